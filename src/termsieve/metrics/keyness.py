"""Keyness statistics of corpus linguistics and epidemiology, as functions of the same table.

They answer "which words would a person name", where the metrics of papers.py answer "which words train a
classifier". Citations: [dunning1993] Computational Linguistics 19(1); [monroe2008] Political Analysis 16(4);
[hardie2014] Log Ratio; [evert2022] Measuring keyness, DH2022; [fisher1935] The Design of Experiments;
[katz1978] Biometrics 34; [newcombe1998] Statistics in Medicine 17.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from termsieve.errors import InputError
from termsieve.metrics.papers import information_gain, joint_information_gain
from termsieve.metrics.registry import (
    METRICS,
    Floats,
    Metric,
    Occurrences,
    chi_squared_p,
    direction,
    get_metric,  # noqa: F401 - the examples call it
    no_smaller_than,
    register_metric,
    require_rule,
)

if TYPE_CHECKING:
    from termsieve.counts import Counts


def _joint_g2(tp: Floats, pos: Floats) -> Floats:
    """G2 of the 2 x classes table, for classes x terms `tp`."""
    return 2 * pos.sum() * joint_information_gain(tp, pos, nats=True)


@register_metric(
    "g2",
    label="Log-likelihood ratio",
    aliases=("log_likelihood",),
    cite="dunning1993",
    formula="2 sum over the four cells of observed log(observed / expected) = 2 n information_gain in nats",
    use="Telling words with a p-value; within a class it ranks like information_gain.",
    p_value=chi_squared_p,
    joint=_joint_g2,
)
def _g2(tp: Floats, fp: Floats, pos: Floats, neg: Floats) -> Floats:
    """Twice the gain in log-likelihood if the class has its own rate.

    >>> round(get_metric("g2")(8, 2, 10, 90), 4)
    np.float64(35.8267)
    """
    return 2 * (pos + neg) * information_gain(tp, fp, pos, neg, nats=True)


@register_metric(
    "risk_difference",
    label="Difference of the rates",
    kind="signed",
    cite="newcombe1998",
    formula="tpr - fpr",
    use="The difference of the shares of documents with the word: the easiest score to explain.",
)
def _risk_difference(tp: Floats, fp: Floats, pos: Floats, neg: Floats) -> Floats:
    """Rate inside the class less the rate outside.

    >>> round(get_metric("risk_difference")(8, 2, 10, 90), 4)
    np.float64(0.7778)
    """
    return tp / pos - fp / neg


def _half_counts(tp: Floats, fp: Floats) -> tuple[Floats, Floats]:
    """Return tp and fp with zeros counted as half a document; a term in no document tells nothing."""
    absent = tp + fp == 0
    return np.where(absent, 1, no_smaller_than(tp, 0.5)), np.where(absent, 1, no_smaller_than(fp, 0.5))


@register_metric(
    "relative_risk",
    label="Ratio of the rates",
    aliases=("rr",),
    kind="one-sided",
    cite="katz1978",
    formula="tpr / fpr; tp = 0 or fp = 0 counts as half a document; 1 for a term in no document",
    use="How many times as frequent the word is inside the class; rare words come first.",
)
def _relative_risk(tp: Floats, fp: Floats, pos: Floats, neg: Floats) -> Floats:
    """Rate inside the class over the rate outside.

    >>> round(get_metric("relative_risk")(8, 2, 10, 90), 4)
    np.float64(36.0)
    """
    inside, outside = _half_counts(tp, fp)
    return np.where(tp + fp == 0, 1, inside / pos / (outside / neg))


@register_metric(
    "log_ratio",
    label="Log ratio",
    kind="signed",
    cite="hardie2014",
    formula="log2(tpr / fpr); tp = 0 or fp = 0 counts as half a document; 0 for a term in no document",
    use="Effect size in doublings. Rare words come first, so give min_df, or use conservative_log_ratio.",
)
def _log_ratio(tp: Floats, fp: Floats, pos: Floats, neg: Floats) -> Floats:
    """Number of doublings from the rate outside the class to the rate inside.

    >>> round(get_metric("log_ratio")(8, 2, 10, 90), 4)
    np.float64(5.1699)
    """
    return np.log2(_relative_risk(tp, fp, pos, neg))


@register_metric(
    "conservative_log_ratio",
    label="Conservative log ratio",
    aliases=("lrc",),
    kind="signed",
    cite="evert2022",
    formula="the bound nearest 0 of the confidence interval of log2(tpr / fpr) (exact conditional Poisson, "
    "two-sided, 1 - (1-level)/tests), 0 where the interval holds 0",
    use="Telling words with an effect that is both large and certain.",
)
def _conservative_log_ratio(
    tp: Floats, fp: Floats, pos: Floats, neg: Floats, *, level: float = 0.95, tests: int = 1
) -> Floats:
    """The bound nearest 0 of the confidence interval of the number of doublings.

    `tests` is the number of terms compared, for Bonferroni's correction.

    >>> round(get_metric("lrc")(8, 2, 10, 90), 4)
    np.float64(2.8448)
    """
    require_rule(0 < level < 1, "conservative_log_ratio: level must lie between 0 and 1", level)
    require_rule(tests >= 1, "conservative_log_ratio: tests must be 1 or more", tests)
    from scipy.special import betaincinv

    tail = (1 - level) / tests / 2
    df = tp + fp
    # Given df, tp is Binomial(df, share) with odds(share) = ratio * pos / neg: Clopper and Pearson's bounds.
    low = np.where(tp == 0, 0, betaincinv(no_smaller_than(tp, 1), fp + 1, tail))
    high = np.where(fp == 0, 1, betaincinv(tp + 1, no_smaller_than(fp, 1), 1 - tail))
    even = pos / (pos + neg)  # the share at a ratio of 1
    bound = np.where(low > even, low, np.where(high < even, high, even))
    ratio = bound * neg / np.where(bound == 1, 1, (1 - bound) * pos)
    return np.where((df == 0) | (bound == even), 0, np.log2(no_smaller_than(ratio, 1)))


@register_metric(
    "fisher_exact",
    label="Fisher's exact test",
    kind="signed",
    cite="fisher1935",
    formula="direction * -log p, p the hypergeometric probability of a table that leans as much to that side",
    use="Telling words when counts are small and the chi-squared approximation is poor.",
    # The score is that of one side, and its value the logarithm.
    p_value=lambda value, freedom: np.minimum(1.0, 2 * np.exp(-np.abs(value))),
)
def _fisher_exact(tp: Floats, fp: Floats, pos: Floats, neg: Floats) -> Floats:
    """The negative logarithm of the one-sided p-value, with the sign of the direction.

    >>> round(get_metric("fisher_exact")(8, 2, 10, 90), 4)
    np.float64(18.3754)
    """
    from termsieve.kernels.tails import log_tails  # here, because it imports scipy.special

    sign = direction(tp, fp, pos, neg).astype(np.float64)
    shape = np.broadcast_shapes(tp.shape, fp.shape, pos.shape, neg.shape)
    tp, fp, pos, neg, sign = (np.broadcast_to(a, shape).ravel() for a in (tp, fp, pos, neg, sign))
    # A table that leans against the class leans for the rest as much.
    inside, outside = np.where(sign < 0, fp, tp), np.where(sign < 0, tp, fp)
    size, rest = np.where(sign < 0, neg, pos), np.where(sign < 0, pos, neg)
    leaning = sign != 0
    value = np.zeros(len(tp))
    log_p = log_tails(inside[leaning], (inside + outside)[leaning], size[leaning], rest[leaning])
    value[leaning] = -sign[leaning] * log_p
    return value.reshape(shape)


def _two_sided_p(value: Floats, freedom: int) -> Floats:
    from scipy.special import ndtr

    return np.asarray(2 * ndtr(-np.abs(value)))


@register_metric(
    "dirichlet_log_odds",
    label="Log odds with an informative prior",
    aliases=("fightin_words",),
    kind="signed",
    cite="monroe2008",
    formula="z = d / sqrt(1/(tf_pos + a) + 1/(tf_neg + a)), d = log odds(q1) - log odds(q0), "
    "q = (tf + a) / (all + a0); a = weight * (tf_pos + tf_neg), a0 = weight * all occurrences",
    use="Telling words by occurrences; rare words get small scores unless the difference is certain.",
    standardised=True,
    p_value=_two_sided_p,
)
def _dirichlet_log_odds(
    tp: Floats, fp: Floats, pos: Floats, neg: Floats, *, weight: float = 0.1, occurrences: Occurrences
) -> Floats:
    """Difference of the log odds of a word, shrunk towards the whole corpus, in standard errors.

    `weight` is the size of the prior as a share of the corpus.
    """
    _check_weight(weight)
    o = occurrences
    return _shrunk_log_odds(o, weight * (o.tf_pos + o.tf_neg), weight * (o.all_pos + o.all_neg))


def _check_weight(weight: float) -> None:
    require_rule(weight > 0, "dirichlet_log_odds: weight must be above 0", weight)


def _shrunk_log_odds(o: Occurrences, prior: Floats, all_prior: Floats | float) -> Floats:
    """Return the z-scores of the difference of log odds, with prior occurrences of each and of all terms."""
    inside, outside = o.tf_pos + prior, o.tf_neg + prior
    rest_inside, rest_outside = o.all_pos + all_prior - inside, o.all_neg + all_prior - outside
    # A term that never occurs, or is the only one of the vocabulary, has no odds.
    known = (inside > 0) & (outside > 0) & (rest_inside > 0) & (rest_outside > 0)
    a, b, c, d = (np.where(known, x, 1) for x in (inside, outside, rest_inside, rest_outside))
    return (np.log(a) - np.log(c) - np.log(b) + np.log(d)) / np.sqrt(1 / a + 1 / b)


def dirichlet_log_odds_prior(background: Counts, weight: float = 0.1) -> Metric:
    """Return the metric dirichlet_log_odds with the occurrences in other counts as its prior.

    Parameters
    ----------
    background : Counts
        Counts with occurrences and names, such as those of a large reference corpus.
    weight : float
        What one occurrence in `background` counts for; a term that does not occur there counts as if it
        occurred once.
    """
    _check_weight(weight)
    if background.tf_total is None or background.terms is None:
        raise InputError("a prior needs word occurrences and names; count the texts with occurrences=True")
    of_term = dict(zip(background.terms.tolist(), background.tf_total.tolist(), strict=True))
    total = weight * float(background.tf_total.sum())

    def dirichlet_log_odds(
        tp: Floats, fp: Floats, pos: Floats, neg: Floats, *, occurrences: Occurrences
    ) -> Floats:
        if occurrences.names is None:
            raise InputError("a prior of other counts needs the names of the terms; give terms=")
        prior = weight * np.array([max(1, of_term.get(name, 0)) for name in occurrences.names.tolist()])
        return _shrunk_log_odds(occurrences, prior, total)

    known = METRICS["dirichlet_log_odds"]
    return replace(known, function=dirichlet_log_odds, registered=False, by_name=True, parameters={})
