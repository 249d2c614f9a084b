"""Prints docs/metrics.md from the registry: `python docs/metrics_page.py > docs/metrics.md`."""

from __future__ import annotations

from termsieve import METRICS
from termsieve.metrics import Metric

HEAD = """\
# Metrics

A metric scores a term for a class from four numbers: `tp` and `fp`, the numbers of documents inside and
outside the class that contain the term, and `pos` and `neg`, the numbers of all documents inside and outside
the class. From these follow `fn = pos - tp`, `tn = neg - fp`, `n = pos + neg`, `tpr = tp / pos` and
`fpr = fp / neg`; `log` is natural.

| kind | how to read a score |
| --- | --- |
| two-sided | large for terms that speak for the class and for terms that speak against it |
| signed | positive for terms that speak for the class, negative for those against |
| one-sided | large for terms that speak for the class |
| no class | does not depend on the class |

A one-sided metric marked *folds* gives a term that speaks against the class the score of its mirror image
(`tp' = fn`, `fp' = tn`) when both kinds of terms are ranked.

A name takes parameters in brackets: `get_metric("wfo(0.3)")`, `get_metric("power(k=3)")`. Any callable
`m(tp, fp, pos, neg)` can be given instead of a name. Every score is finite. If a class has no
documents, or all of them, every metric that depends on the class is 0.

`bns` clips every rate to [.0005, .9995]; forman2003 replaces only rates of 0. They differ where more than
2,000 documents are outside the class: there the paper's rule scores a term that never occurs outside the
class below one that occurs there once. On ohscal (11,162 documents) a fifth of the selected terms differ,
and clipping gives .006 to .013 more F1 (svm, 100 to 1,000 terms); on la1 (3,204) at most 2 % differ, and F1
by -.003 to .026; on fbis (2,463) nothing does. `python -m reproductions.bns_clip` measures it.

Papers: forman2003 (JMLR 3), zheng2004 (SIGKDD Explorations 6(1)), uchyigit2007 (GU metric), mladenic2004
(SIGIR), li2009 (ACL). [chi2.md](chi2.md) shows why scikit-learn's `chi2` gives different numbers.

Keyness statistics, from `g2` on: dunning1993 (Computational Linguistics 19(1)), monroe2008 (Political
Analysis 16(4)), hardie2014 (Log Ratio), evert2022 (Measuring keyness, DH2022), fisher1935 (The Design of
Experiments), katz1978 (Biometrics 34), newcombe1998 (Statistics in Medicine 17). A smoothed signed metric
(`log_odds_ratio`, `log_ratio`) can have another sign than `tpr - fpr` if counts are very small; the direction
of a term under such a metric is the sign of its score.

`python docs/metrics_page.py` makes this page from the registry.
"""


def section(metric: Metric) -> str:
    """Return the part of the page about one metric."""
    names = ", ".join(f"`{alias}`" for alias in metric.aliases)
    kind = metric.kind + (", folds" if metric.folds else "")
    needs = {"occurrences": ", needs word occurrences", "terms": "", "": ""}[metric.needs]
    summary = (metric.function.__doc__ or "").strip().splitlines()[0]
    return f"""
## {metric.name}

{metric.label}{f" ({names})" if names else ""}. {summary}

- Formula: `{metric.formula}`
- Kind: {kind}{needs}
- Use: {metric.use}
- Source: {metric.cite}
- Written in full: `{metric}`
"""


def page() -> str:
    """Return the whole page."""
    return HEAD + "".join(section(metric) for metric in METRICS.values())


if __name__ == "__main__":
    print(page(), end="")
