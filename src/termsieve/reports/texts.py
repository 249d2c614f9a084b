"""Documents come in; what they show goes out: a classifier's predictions, examples of words, mistakes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from termsieve.analysis.examples import Example, ExampleSampler
from termsieve.analysis.mistakes import CrossValidation, cross_validated
from termsieve.analysis.wordmap import ScoredTables
from termsieve.counts import Counts
from termsieve.errors import InputError
from termsieve.reports.explorer import Explorer, Mistake, Texts
from termsieve.reports.reading import Documents

Progress = Callable[[float, str], None]
SAMPLED_WORDS = 20_000  # words that examples are looked for
MAX_MISTAKES = 200
PAIR_MISTAKES = 8  # of the documents of one class that were given another


def validated(found: Documents) -> CrossValidation | None:
    """Return what a small classifier predicts for the documents; None if there is nothing to learn."""
    if found.matrix is None or found.labels is None:
        return None
    try:
        return cross_validated(found.matrix, found.labels)
    except InputError:
        return None


def texts_of(
    found: Documents,
    counts: Counts,
    scored: Sequence[ScoredTables],
    validation: CrossValidation | None,
    examples: int,
    tell: Progress,
) -> Texts | None:
    """Return the examples, the words that go together and the mistakes; None if there are no documents."""
    if found.batches is None:
        return None
    words = Explorer(counts, (), (), scored=scored).words[:SAMPLED_WORDS]
    sampler = ExampleSampler(counts, words, found.analysis, max(examples, 1))
    done = 0
    for some, labels, matrix in found.batches():
        sampler.add(some, labels, matrix)
        done += len(some)
        tell(0.6 + 0.3 * done / max(1, counts.n_docs), "looking for examples")
    with_text = found.texts is not None
    mistakes = _mistakes(found, counts, validation) if with_text and validation is not None else []
    return Texts(found.analysis, sampler.examples() if with_text else [], sampler.company(), mistakes)


def _mistakes(found: Documents, counts: Counts, validation: CrossValidation) -> list[Mistake]:
    """Return the documents whose label the classifier contradicts most, with the words that decided."""
    assert found.texts is not None
    places = {label: c for c, label in enumerate(counts.classes.tolist())}
    classes = [places.get(label, -1) for label in validation.labels.classes.tolist()]
    names = found.counts.names()
    truth = validation.truth
    mistakes: list[Mistake] = []
    pairs: Counter[tuple[int, int]] = Counter()
    for document, own, given, margin in zip(*(part.tolist() for part in validation.doubtful()), strict=True):
        pair = classes[own], classes[given] if given >= 0 else -1
        if pair[0] < 0 or pairs[pair] >= PAIR_MISTAKES:
            continue
        pairs[pair] += 1
        decided = validation.contributions(found.matrix, document, own, given)
        words = [(str(names[column]), added) for column, added in decided]
        labels = tuple(c for c, has in zip(classes, truth[document].tolist(), strict=True) if has and c >= 0)
        shows = tuple(word for word, _ in words)
        example = Example(found.number(document), found.texts[document], labels, 0.0, shows)
        mistakes.append(Mistake(example, *pair, margin, words))
        if len(mistakes) == MAX_MISTAKES:
            break
    return mistakes
