"""Documents and the name of a learned selection come in; its terms in order, and what was learned, go out."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from termsieve.corpus import Corpus
from termsieve.errors import InputError, ParameterError, shown, unknown_name
from termsieve.estimators.base import LearnedSelector
from termsieve.estimators.ratio import RatioSelector
from termsieve.estimators.weights import WeightSelector
from termsieve.estimators.wfo import WFOSelector
from termsieve.ranking import CUTS
from termsieve.sources import Frame, corpus_of
from termsieve.terms import suited_options, term_matrix

if TYPE_CHECKING:
    import polars

DEFAULT_K = 1000


class Learned(NamedTuple):
    """The terms of a learned selection: those selected, all in order with their scores, and a sentence."""

    terms: list[str]
    frame: polars.DataFrame
    sentence: str


def _ratio_said(selector: Any, classes: list[str]) -> str:
    ratios = np.atleast_1d(selector.ratio_).tolist()
    if len(ratios) == 1:
        return f"the learned share of words that speak for the class is {ratios[0]:.0%}".replace("%", " %")
    each = ", ".join(f"{name} {share:.0%}" for name, share in zip(classes, ratios, strict=True))
    return f"the learned shares of words that speak for a class: {each}".replace("%", " %")


#: The selections that learn: name -> the selector, and the sentence about what it learned.
METHODS: dict[str, tuple[type[LearnedSelector], Callable[[Any, list[str]], str]]] = {
    "ratio": (RatioSelector, _ratio_said),
    "wfo": (WFOSelector, lambda selector, _: f"the learned metric is wfo({selector.lambda_:.3g})"),
    "weights": (WeightSelector, lambda selector, _: "words are ranked by the weights of a linear SVM"),
}


def learned_terms(
    source: Corpus | Frame | str | os.PathLike[str],
    method: str,
    *,
    target: Any = None,
    format: str | None = None,
    min_df: float = 1,
    max_df: float = 1.0,
    options: dict[str, Any] | None = None,
    **parameters: Any,
) -> Learned:
    """Return the terms that a selector selects after it has learned its parameter from the documents.

    Parameters
    ----------
    source : Corpus, frame or path
        The documents; counts are not enough, because classifiers are trained.
    method : {"ratio", "wfo", "weights"}
        RatioSelector, WFOSelector or WeightSelector.
    target : label, optional
        The class to separate from the rest.
    format : str, optional
        The format of a file; recognised by default.
    min_df, max_df : int or float
        Limits of the document frequency.
    options : dict, optional
        How documents are read and split into terms, as in `read` and `TermVectorizer`.
    **parameters
        The parameters of the selector, such as k=.

    Returns
    -------
    Learned
        The selected terms, best first; all terms in order with their scores; a sentence about what was
        learned.

    Examples
    --------
    >>> corpus = Corpus(["buy cheap", "buy now", "see you", "see him"], ["spam", "spam", "ham", "ham"])
    >>> sorted(learned_terms(corpus, "weights", k=2).terms)
    ['buy', 'see']
    """
    import polars as pl

    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    kind, said = METHODS[method]
    known = kind().get_params()
    parameters = {name: value for name, value in parameters.items() if value is not None}
    for name in parameters:
        if name not in known:
            raise ParameterError(f"{name}= is not for the method {method!r}; it takes {', '.join(known)}")
    reading = dict(options or {})
    corpus = corpus_of(source, reading, format)
    suited = suited_options(reading, corpus.texts or ())
    X, names = term_matrix(corpus, **suited, min_df=min_df, max_df=max_df)
    if "k" in parameters or not known.keys() & parameters.keys() & set(CUTS):
        parameters["k"] = min(parameters.get("k", DEFAULT_K), X.shape[1])
    y, classes = _target(corpus, target)
    selector = kind(**parameters).fit(X, y)
    order = np.asarray(selector.ranking_)
    selected = selector.get_support()
    frame = pl.DataFrame(
        {
            "rank": np.arange(1, len(order) + 1),
            "term": [str(names[column]) for column in order],
            "score": np.asarray(selector.scores_, dtype=np.float64)[order],
            "documents": np.bincount(X.indices, minlength=X.shape[1])[order],
            "selected": selected[order],
        }
    )
    return Learned(frame.filter("selected")["term"].to_list(), frame, said(selector, classes))


def _target(corpus: Corpus, target: Any) -> tuple[Any, list[str]]:
    """Return the target of a fit and the names of its classes; for one class, that class and the rest."""
    if target is None:
        labels = list(corpus.labels) if corpus.multilabel else np.asarray(corpus.labels.tolist())
        return labels, [str(label) for label in corpus.classes]
    groups = corpus.labels.tolist() if corpus.multilabel else [(label,) for label in corpus.labels.tolist()]
    member = np.array([any(str(label) == str(target) for label in group) for group in groups])
    if member.all() or not member.any():
        raise InputError(
            f"class {target!r} has none or all of the documents; classes: {shown(map(str, corpus.classes))}"
        )
    return member, [str(target)]
