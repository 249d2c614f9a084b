"""The 25 metrics of the five papers: pure functions of (tp, fp, pos, neg).

tp and fp are the documents that contain a term inside and outside a class, pos and neg the documents of
the class and of the rest. `log` is natural. Citations: [forman2003] JMLR 3; [zheng2004] SIGKDD
Explorations 6(1); [uchyigit2007] GU metric; [mladenic2004] SIGIR; [li2009] ACL.
"""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from termsieve.metrics.registry import (
    Floats,
    Occurrences,
    chi_squared_p,
    direction,
    get_metric,  # noqa: F401 - the examples call it
    no_smaller_than,
    register_metric,
    require_rule,
)


@register_metric(
    "accuracy",
    label="Accuracy",
    aliases=("acc",),
    kind="one-sided",
    folds=True,
    cite="forman2003",
    formula="tp - fp",
    use="A baseline; with skewed classes it prefers frequent words.",
)
def _accuracy(tp: Floats, fp: Floats, pos: Floats, neg: Floats) -> Floats:
    """Documents gained by predicting the class wherever the term occurs.

    >>> get_metric("acc")(8, 2, 10, 90)
    np.float64(6.0)
    """
    return tp - fp


@register_metric(
    "balanced_accuracy",
    label="Balanced accuracy",
    aliases=("acc2",),
    cite="forman2003",
    formula="|tpr - fpr|",
    use="For very few terms (20 to 50), where it is as good as information gain.",
)
def _balanced_accuracy(tp: Floats, fp: Floats, pos: Floats, neg: Floats) -> Floats:
    """Distance of the two rates.

    >>> round(get_metric("acc2")(8, 2, 10, 90), 4)
    np.float64(0.7778)
    """
    return np.abs(tp / pos - fp / neg)


@register_metric(
    "bns",
    label="Bi-Normal Separation",
    aliases=("bi_normal_separation",),
    cite="forman2003, li2009",
    formula="|ndtri(tpr) - ndtri(fpr)|, both rates clipped to [clip, 1 - clip]",
    use="The first choice for F1 and recall, and for skewed classes, with a few hundred terms or more.",
)
def _bns(tp: Floats, fp: Floats, pos: Floats, neg: Floats, *, clip: float = 0.0005) -> Floats:
    """Distance of the two rates on the scale of the standard normal distribution.

    >>> round(get_metric("bns")(8, 2, 10, 90), 4)
    np.float64(2.8515)
    """
    require_rule(0 < clip < 0.5, "bns: clip must lie between 0 and 0.5", clip)
    from scipy.special import ndtri  # here, because importing it takes longer than most commands

    return np.abs(ndtri(np.clip(tp / pos, clip, 1 - clip)) - ndtri(np.clip(fp / neg, clip, 1 - clip)))


def _joint_chi_squared(tp: Floats, pos: Floats) -> Floats:
    """Chi-squared of the 2 x classes table, for classes x terms `tp`."""
    n, df = pos.sum(), tp.sum(axis=0)
    share = pos[:, None] / n
    excess = ((tp - df * share) ** 2 / np.where(share == 0, 1, share)).sum(axis=0)
    spread = df * (n - df)
    return np.where(spread == 0, 0, n * excess / np.where(spread == 0, 1, spread))


@register_metric(
    "chi_squared",
    label="Chi-squared",
    aliases=("chi", "chi2"),
    cite="forman2003, zheng2004, uchyigit2007, li2009",
    formula="n (tp tn - fp fn)^2 / ((tp+fp)(fn+tn) pos neg); 0 when a margin is 0",
    use="For precision with many terms; it has a p-value. It fails on the same problems as information gain.",
    p_value=chi_squared_p,
    joint=_joint_chi_squared,
)
def _chi_squared(tp: Floats, fp: Floats, pos: Floats, neg: Floats) -> Floats:
    """Pearson's statistic of the 2x2 table, without continuity correction.

    >>> round(get_metric("chi")(8, 2, 10, 90), 4)
    np.float64(60.4938)
    """
    n, df = pos + neg, tp + fp
    margins = df * (n - df) * pos * neg
    return np.where(margins == 0, 0, n * (tp * neg - fp * pos) ** 2 / np.where(margins == 0, 1, margins))


@register_metric(
    "document_frequency",
    label="Document frequency",
    aliases=("df", "dfreq"),
    kind="no class",
    cite="forman2003, li2009",
    formula="tp + fp",
    use="Needs no labels; a baseline that prefers frequent words.",
)
def _document_frequency(tp: Floats, fp: Floats, pos: Floats, neg: Floats) -> Floats:
    """Documents that contain the term.

    >>> get_metric("df")(8, 2, 10, 90)
    np.float64(10.0)
    """
    return tp + fp


@register_metric(
    "f1",
    label="F1 measure",
    kind="one-sided",
    folds=True,
    cite="forman2003",
    formula="2 tp / (pos + tp + fp)",
    use="Together with bns: this pair most often reaches the best recall.",
)
def _f1(tp: Floats, fp: Floats, pos: Floats, neg: Floats) -> Floats:
    """F1 of the one-term classifier.

    >>> get_metric("f1")(8, 2, 10, 90)
    np.float64(0.8)
    """
    return 2 * tp / (pos + tp + fp)


def _cell(cell: Floats, row: Floats, column: Floats, n: Floats) -> Floats:
    """A cell's share n * p log(p / (p_row p_column)) of the information."""
    from scipy.special import xlogy

    return xlogy(cell, cell * n / np.where(row * column == 0, 1, row * column))


def joint_information_gain(tp: Floats, pos: Floats, smoothing: float = 0.0, nats: bool = False) -> Floats:
    """Information about the class of a document, over all classes at once, for classes x terms `tp`."""
    present, absent, size = tp + smoothing, pos[:, None] - tp + smoothing, pos[:, None] + 2 * smoothing
    df, rest = present.sum(axis=0), absent.sum(axis=0)
    n = size.sum()
    total = (_cell(present, size, df, n) + _cell(absent, size, rest, n)).sum(axis=0)
    return np.maximum(total, 0) / n / (1 if nats else np.log(2))


@register_metric(
    "information_gain",
    label="Information gain",
    aliases=("ig",),
    cite="forman2003, zheng2004, uchyigit2007, mladenic2004, li2009",
    formula="H(pos, neg) - [(tp+fp)/n H(tp, fp) + (fn+tn)/n H(fn, tn)], in bits; `nats=True` in nats",
    use="For precision, and for very few terms (20 to 50).",
    joint=joint_information_gain,
)
def information_gain(
    tp: Floats, fp: Floats, pos: Floats, neg: Floats, *, smoothing: float = 0.0, nats: bool = False
) -> Floats:
    """Information that the term's presence gives about the class.

    >>> round(get_metric("ig")(8, 2, 10, 90), 4)
    np.float64(0.2584)
    """
    require_rule(smoothing >= 0, "information_gain: smoothing must be 0 or more", smoothing)
    fn, tn = pos - tp + smoothing, neg - fp + smoothing
    tp, fp, pos, neg = tp + smoothing, fp + smoothing, pos + 2 * smoothing, neg + 2 * smoothing
    n, df, rest = pos + neg, tp + fp, fn + tn
    # Grouped so that mirrored tables and swapped classes give the very same float, and tie.
    total = (_cell(tp, pos, df, n) + _cell(fn, pos, rest, n)) + (
        _cell(fp, neg, df, n) + _cell(tn, neg, rest, n)
    )
    return np.maximum(total, 0) / n / (1 if nats else np.log(2))


@register_metric(
    "odds_numerator",
    label="Odds ratio numerator",
    aliases=("oddn",),
    kind="one-sided",
    folds=True,
    cite="forman2003",
    formula="tpr (1 - fpr)",
    use="Together with bns: this pair most often reaches the best accuracy.",
)
def _odds_numerator(tp: Floats, fp: Floats, pos: Floats, neg: Floats) -> Floats:
    """The odds ratio's numerator, as rates.

    >>> round(get_metric("oddn")(8, 2, 10, 90), 4)
    np.float64(0.7822)
    """
    return tp / pos * (1 - fp / neg)


@register_metric(
    "odds_ratio",
    label="Odds ratio",
    aliases=("odds",),
    kind="one-sided",
    folds=True,
    cite="forman2003, uchyigit2007",
    formula="tp tn / (fp fn); a zero factor of the denominator becomes 1",
    use="Together with bns: this pair most often reaches the best precision.",
)
def _odds_ratio(tp: Floats, fp: Floats, pos: Floats, neg: Floats) -> Floats:
    """Odds of the term inside the class over its odds outside.

    >>> get_metric("odds")(8, 2, 10, 90)
    np.float64(176.0)
    """
    return tp * (neg - fp) / (no_smaller_than(fp, 1) * no_smaller_than(pos - tp, 1))


@register_metric(
    "power",
    label="Power",
    aliases=("pow",),
    kind="one-sided",
    folds=True,
    cite="forman2003",
    formula="(1 - fpr)^k - (1 - tpr)^k",
    use="Prefers frequent words to rare ones; poor with few terms.",
)
def _power(tp: Floats, fp: Floats, pos: Floats, neg: Floats, *, k: int = 5) -> Floats:
    """Difference of the rates of absence, raised to a power.

    >>> round(get_metric("pow")(8, 2, 10, 90), 4)
    np.float64(0.8934)
    """
    require_rule(k > 0, "power: k must be above 0", k)
    return (1 - fp / neg) ** k - (1 - tp / pos) ** k


@register_metric(
    "probability_ratio",
    label="Probability ratio",
    aliases=("pr",),
    kind="one-sided",
    folds=True,
    cite="forman2003",
    formula="tpr / fpr; fpr = 0 becomes 1e-8",
    use="Prefers words that hardly occur outside the class, also very rare ones.",
)
def _probability_ratio(tp: Floats, fp: Floats, pos: Floats, neg: Floats) -> Floats:
    """The term's rate inside the class over its rate outside.

    >>> round(get_metric("pr")(8, 2, 10, 90), 4)
    np.float64(36.0)
    """
    return tp / pos / no_smaller_than(fp / neg, 1e-8)


@register_metric(
    "random",
    label="Random",
    aliases=("rand",),
    kind="no class",
    cite="forman2003",
    formula="a number in [0, 1): a hash of the seed and the term, or of its column where terms have no names",
    use="A baseline that every metric must beat.",
)
def _random(
    tp: Floats, fp: Floats, pos: Floats, neg: Floats, *, seed: int = 0, terms: Sequence[str] | None = None
) -> Floats:
    """A random number for each term, the same in every class and every run.

    >>> get_metric("random")([1, 1, 1], [0, 0, 0], 2, 2).round(3)
    array([0.652, 0.166, 0.51 ])
    """
    shape = np.broadcast_shapes(tp.shape, fp.shape)
    n_terms = shape[-1] if shape else 1
    if terms is None:
        codes = np.arange(n_terms, dtype=np.uint64)
    else:
        codes = np.fromiter(
            (crc32(name.encode(errors="surrogatepass")) for name in terms), np.uint64, n_terms
        )
    values = (_mixed(codes + _mixed(np.array([seed]).astype(np.uint64))) >> np.uint64(11)) * 2.0**-53
    return np.broadcast_to(values, shape) if shape else values[0]


def _mixed(codes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble 64-bit integers (the splitmix64 generator's output function)."""
    codes = codes + np.uint64(0x9E3779B97F4A7C15)
    codes = (codes ^ (codes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    codes = (codes ^ (codes >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return codes ^ (codes >> np.uint64(31))


@register_metric(
    "correlation_coefficient",
    label="Correlation coefficient",
    aliases=("cc", "ngl"),
    kind="signed",
    cite="zheng2004, uchyigit2007",
    formula="sqrt(n) (tp tn - fp fn) / sqrt((tp+fp)(fn+tn) pos neg); 0 when a margin is 0",
    use="For positive and negative terms separately, or combined with a ratio; its square is chi_squared.",
    p_value=lambda value, freedom: chi_squared_p(value**2, freedom),
)
def _correlation_coefficient(tp: Floats, fp: Floats, pos: Floats, neg: Floats) -> Floats:
    """The signed square root of chi_squared.

    >>> round(get_metric("cc")(8, 2, 10, 90), 4)
    np.float64(7.7778)
    """
    n, df = pos + neg, tp + fp
    margins = df * (n - df) * pos * neg
    return np.where(
        margins == 0, 0, np.sqrt(n) * (tp * neg - fp * pos) / np.sqrt(np.where(margins == 0, 1, margins))
    )


@register_metric(
    "log_odds_ratio",
    label="Log odds ratio",
    aliases=("or",),
    kind="signed",
    cite="zheng2004",
    formula="log(tpr (1 - fpr) / ((1 - tpr) fpr)), 0.5 added to each cell",
    use="For positive and negative terms separately, or combined with a chosen ratio.",
)
def _log_odds_ratio(tp: Floats, fp: Floats, pos: Floats, neg: Floats) -> Floats:
    """Logarithm of the smoothed odds ratio.

    >>> round(get_metric("or")(8, 2, 10, 90), 4)
    np.float64(4.7905)
    """
    return np.log((tp + 0.5) * (neg - fp + 0.5) / ((pos - tp + 0.5) * (fp + 0.5)))


@register_metric(
    "log_odds_ratio_squared",
    label="Squared log odds ratio",
    aliases=("ors",),
    cite="zheng2004",
    formula="log_odds_ratio^2",
    use="The two-sided form of log_odds_ratio.",
)
def _log_odds_ratio_squared(tp: Floats, fp: Floats, pos: Floats, neg: Floats) -> Floats:
    """Square of the log odds ratio.

    >>> round(get_metric("ors")(8, 2, 10, 90), 4)
    np.float64(22.9488)
    """
    return _log_odds_ratio(tp, fp, pos, neg) ** 2


@register_metric(
    "signed_information_gain",
    label="Signed information gain",
    aliases=("sig",),
    kind="signed",
    cite="zheng2004",
    formula="direction * information gain in nats, 0.5 added to each cell",
    use="For positive and negative terms separately, or combined with a chosen ratio.",
)
def _signed_information_gain(tp: Floats, fp: Floats, pos: Floats, neg: Floats) -> Floats:
    """Information gain with the sign of the direction.

    >>> round(get_metric("sig")(8, 2, 10, 90), 4)
    np.float64(0.1719)
    """
    return direction(tp, fp, pos, neg) * information_gain(tp, fp, pos, neg, smoothing=0.5, nats=True)


@register_metric(
    "mutual_information",
    label="Mutual information",
    aliases=("mi",),
    kind="one-sided",
    cite="uchyigit2007, li2009",
    formula="log(tp n / (pos (tp+fp))), and -log(2n) for tp = 0; "
    "with smoothing s and m classes log((tp+s) / (tp+fp+m s) / (pos/n))",
    use="Prefers rare words of one class; only useful with very many terms.",
)
def _mutual_information(
    tp: Floats, fp: Floats, pos: Floats, neg: Floats, *, smoothing: float = 0.0, classes: int = 2
) -> Floats:
    """Pointwise mutual information of term and class.

    >>> round(get_metric("mi")(8, 2, 10, 90), 4)
    np.float64(2.0794)
    """
    require_rule(smoothing >= 0, "mutual_information: smoothing must be 0 or more", smoothing)
    require_rule(classes >= 2, "mutual_information: classes must be 2 or more", classes)
    n, df = pos + neg, tp + fp
    if smoothing:
        return np.log((tp + smoothing) / (df + classes * smoothing) * n / pos)
    return np.where(tp == 0, -np.log(2 * n), np.log(np.where(tp == 0, 1, tp) * n / (pos * np.maximum(df, 1))))


@register_metric(
    "gss",
    label="GSS coefficient",
    kind="signed",
    cite="uchyigit2007",
    formula="(tp tn - fp fn) / n^2",
    use="A simplified correlation coefficient that prefers frequent words; for recall.",
)
def _gss(tp: Floats, fp: Floats, pos: Floats, neg: Floats) -> Floats:
    """Correlation coefficient without its denominator.

    >>> get_metric("gss")(8, 2, 10, 90)
    np.float64(0.07)
    """
    return (tp * neg - fp * pos) / (pos + neg) ** 2


def _over_spread(between: Floats, within: Floats, equal: NDArray[np.bool_], n: Floats) -> Floats:
    """Ratio of two spreads; no spread within: 0 where the means are equal, else n, above any other score."""
    return np.where(within <= 0, np.where(equal, 0, n), between / np.where(within <= 0, 1, within))


@register_metric(
    "fisher",
    label="Fisher criterion",
    cite="uchyigit2007",
    formula="(tpr - fpr)^2 / (tpr (1-tpr) + fpr (1-fpr)); denominator 0: 0 if tpr = fpr, else n",
    use="The distance of two means relative to their variances.",
)
def _fisher(tp: Floats, fp: Floats, pos: Floats, neg: Floats) -> Floats:
    """Squared distance of the rates over the sum of their variances.

    >>> round(get_metric("fisher")(8, 2, 10, 90), 4)
    np.float64(3.3288)
    """
    tpr, fpr = tp / pos, fp / neg
    within = tpr * (1 - tpr) + fpr * (1 - fpr)
    return _over_spread((tpr - fpr) ** 2, within, tp * neg == fp * pos, pos + neg)


@register_metric(
    "bss_wss",
    label="Between over within sum of squares",
    cite="uchyigit2007",
    formula="(pos (m1-m)^2 + neg (m0-m)^2) / (SS - pos m1^2 - neg m0^2), of occurrences, else of presence",
    use="Like fisher, but with term occurrences if the counts have them.",
)
def _bss_wss(
    tp: Floats, fp: Floats, pos: Floats, neg: Floats, *, occurrences: Occurrences | None = None
) -> Floats:
    """Spread of the term's occurrences between the classes over the spread within them.

    >>> round(get_metric("bss_wss")(8, 2, 10, 90), 4)
    np.float64(1.5313)
    """
    if occurrences is None:
        inside, outside, squares = tp, fp, tp + fp
    else:
        inside, outside, squares = occurrences.tf_pos, occurrences.tf_neg, occurrences.squares
    n = pos + neg
    between = pos * neg / n * (inside / pos - outside / neg) ** 2
    within = squares - inside**2 / pos - outside**2 / neg
    return _over_spread(between, within, inside * neg == outside * pos, n)


@register_metric(
    "gu",
    label="GU metric",
    kind="one-sided",
    cite="uchyigit2007",
    formula="|z| tpr / fpr, z = (tp - fp) / sqrt(p (1-p) (1/pos + 1/neg)), p = (tp+fp)/n; fp = 0 counts as "
    "one document in the ratio; 0 when p is 0 or 1; `proportions=True`: tpr - fpr in z",
    use="Prefers words of the class, weighted by significance; for naive Bayes with few terms.",
)
def _gu(tp: Floats, fp: Floats, pos: Floats, neg: Floats, *, proportions: bool = False) -> Floats:
    """Test of two proportions times the ratio of the rates.

    >>> round(get_metric("gu")(8, 2, 10, 90), 2)
    np.float64(2160.0)
    """
    p = (tp + fp) / (pos + neg)
    spread = p * (1 - p) * (1 / pos + 1 / neg)
    difference = tp / pos - fp / neg if proportions else tp - fp
    z = difference / np.sqrt(np.where(spread <= 0, 1, spread))
    return np.where(spread <= 0, 0, np.abs(z) * (tp / pos) / (no_smaller_than(fp, 1) / neg))


@register_metric(
    "word_frequency",
    label="Word frequency",
    aliases=("wf",),
    kind="no class",
    cite="uchyigit2007",
    formula="tf_pos + tf_neg",
    use="Needs no labels; a baseline that prefers frequent words.",
)
def _word_frequency(tp: Floats, fp: Floats, pos: Floats, neg: Floats, *, occurrences: Occurrences) -> Floats:
    """Occurrences of the term in all documents."""
    return occurrences.tf_pos + occurrences.tf_neg


@register_metric(
    "word_odds_ratio",
    label="Odds ratio of words",
    aliases=("wor",),
    kind="signed",
    cite="mladenic2004",
    formula="log(odds(q1) / odds(q0)), q = (tf + 1) / (all + number of terms), inside and outside the class",
    use="For naive Bayes with skewed classes; it ranks words of the class first.",
)
def _word_odds_ratio(tp: Floats, fp: Floats, pos: Floats, neg: Floats, *, occurrences: Occurrences) -> Floats:
    """Logarithm of the odds that a word inside the class is this term over the odds outside."""
    inside = (occurrences.tf_pos + 1) / (occurrences.all_pos + occurrences.n_terms)
    outside = (occurrences.tf_neg + 1) / (occurrences.all_neg + occurrences.n_terms)
    # With a vocabulary of one term both shares are 1, and their odds cancel.
    odds = inside * (1 - outside) / np.where((1 - inside) * outside == 0, 1, (1 - inside) * outside)
    return np.where(odds > 0, np.log(np.where(odds > 0, odds, 1)), 0)


def _half_document(fp: Floats, neg: Floats) -> Floats:
    """Return fpr, where fp = 0 counts as half a document."""
    return no_smaller_than(fp, 0.5) / neg


@register_metric(
    "wllr",
    label="Weighted log likelihood ratio",
    kind="one-sided",
    cite="li2009",
    formula="tpr log(tpr / fpr); fp = 0 counts as half a document; tp = 0 gives 0",
    use="A balance of frequency and ratio; for few terms.",
)
def _wllr(tp: Floats, fp: Floats, pos: Floats, neg: Floats) -> Floats:
    """Rate inside the class times the logarithm of the ratio of the rates.

    >>> round(get_metric("wllr")(8, 2, 10, 90), 4)
    np.float64(2.8668)
    """
    tpr, fpr = tp / pos, _half_document(fp, neg)
    return tpr * np.log(np.where(tp == 0, 1, tpr / fpr))


@register_metric(
    "wfo",
    label="Weighed frequency and odds",
    kind="one-sided",
    cite="li2009",
    formula="tpr^lam log(tpr / fpr)^(1-lam) if tpr > fpr, else 0; fp = 0 counts as half a document",
    use="For any number of terms, if lam is learned: near 0 for many terms, 0.3 to 0.5 for few.",
)
def _wfo(tp: Floats, fp: Floats, pos: Floats, neg: Floats, lam: float = 0.5) -> Floats:
    """Frequency and ratio of the rates, weighted by lam.

    >>> round(get_metric("wfo(0.3)")(8, 2, 10, 90), 4)
    np.float64(2.2853)
    """
    require_rule(0 <= lam <= 1, "wfo: lam must lie between 0 and 1", lam)
    tpr, fpr = tp / pos, _half_document(fp, neg)
    positive = tpr > fpr
    ratio = np.log(np.where(positive, tpr / fpr, 1))
    return np.where(positive, tpr**lam * ratio ** (1 - lam), 0)
