"""An exported model and texts come in; classes and decision values go out.

This file needs nothing but Python 3.10 or later: copy it beside a model that `termsieve export` wrote, or let
`termsieve export --to python` put both into one file.

    python scorer.py model.json < texts.txt       one text per line: its class and decision value

    import scorer
    model = scorer.load("model.json")
    model.decide("cheap pills now")               # the class, or the list of the labels
    model.values("cheap pills now")               # the decision values
    model.explain("cheap pills now")              # which terms decided
"""

from __future__ import annotations

import json
import math
import re
import sys
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

FORMAT, VERSION = "termsieve portable model", 1
ANALYZERS, VALUES = ("word", "char", "char_wb"), ("presence", "count", "log")
DECISIONS, PROBABILITIES = ("two", "highest", "each"), (None, "logistic", "softmax")
STEMS = (None, "porter")
LAST = 0x10FFFF  # the greatest code point
CAPITAL_SIGMA, SIGMA, FINAL_SIGMA = "\u03a3", "\u03c3", "\u03c2"
MOST_BYTES = 1 << 30
LEAST_SUM = sys.float_info.min  # of probabilities that are divided by their sum
MOST_RANGES, MOST_N, MOST_LEAST = 10_000, 20, 64
PLAIN = [65, 90, 1, 32]  # A to Z
Label = str | int | float


class ModelError(ValueError):
    """The model is damaged, or no model; the message is one sentence."""


def load(path: Any) -> Model:
    """Return the model in a JSON file."""
    try:
        with open(path, "rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}") from None
    if len(content) > MOST_BYTES:
        raise ModelError(f"{path} has more than {MOST_BYTES:,} bytes, which no model has")
    try:
        return loads(content)
    except ModelError as error:
        raise ModelError(f"{path} is no model that can be used: {error}") from None


def loads(content: Any) -> Model:
    """Return the model in the text or the bytes of a JSON file."""
    try:
        found = json.loads(content, parse_constant=_no_number)
    except ModelError:
        raise
    except (ValueError, RecursionError) as error:
        reason = str(error).splitlines() or [type(error).__name__]
        raise ModelError(f"it is no JSON ({reason[0]})") from None
    return Model(found)


class Model:
    """A checked model, ready to score texts."""

    def __init__(self, description: Any) -> None:
        check(description)
        self.description: dict[str, Any] = description
        self.classes: list[Label] = description["classes"]
        self.analyse = Analyser(description["text"])
        self._number = {term: number for number, term in enumerate(description["terms"])}
        self._scales = description["scales"]

    def counts(self, text: str) -> dict[int, int]:
        """Return how often each term of the model occurs, by the term's number."""
        number = self._number
        found: dict[int, int] = {}
        for term in self.analyse(text):
            at = number.get(term)
            if at is not None:
                found[at] = found.get(at, 0) + 1
        return found

    def inputs(self, text: str) -> list[tuple[int, float]]:
        """Return the terms of a text by number, in order, with the values that the weights multiply."""
        kind, scales = self.description["values"], self._scales
        values = []
        for number, count in sorted(self.counts(text).items()):
            value = 1.0 if kind == "presence" else float(count) if kind == "count" else 1.0 + math.log(count)
            values.append((number, value if scales is None else value * scales[number]))
        if self.description["unit_length"]:
            length = math.sqrt(sum(value * value for _, value in values))
            values = [(number, value / length) for number, value in values] if length else values
        return values

    def values(self, text: str) -> list[float]:
        """Return the decision values, less the thresholds: one for two classes, otherwise one per class."""
        weights, totals = self.description["weights"], [0.0] * len(self.description["intercepts"])
        for number, value in self.inputs(text):
            for row, weight in enumerate(weights[number]):
                totals[row] += value * weight
        ends = zip(totals, self.description["intercepts"], self.description["thresholds"], strict=True)
        return [total + intercept - threshold for total, intercept, threshold in ends]

    def decided(self, values: list[float]) -> Label | list[Label]:
        """Return the class that the decision values mean, or the list of the labels."""
        if self.description["decision"] == "two":
            return self.classes[1 if values[0] > 0 else 0]
        if self.description["decision"] == "highest":
            return self.classes[values.index(max(values))]
        return [label for label, value in zip(self.classes, values, strict=True) if value > 0]

    def decide(self, text: str) -> Label | list[Label]:
        """Return the class of a text, or the list of its labels."""
        return self.decided(self.values(text))

    def probabilities(self, text: str) -> list[float]:
        """Return the probability of each class; of several labels, that of each label."""
        return self.probable(self.values(text))

    def probable(self, values: list[float]) -> list[float]:
        """Return the probabilities that decision values mean."""
        kind, several = self.description["probability"], self.description["decision"]
        if kind is None:
            raise ModelError("the model gives no probabilities; train one with --learner lr")
        if kind == "softmax":
            high = max(values)
            shares = [math.exp(value - high) for value in values]
        else:
            shares = [_logistic(value) for value in self._calibrated(values)]
        if several == "two":
            return [1.0 - shares[0], shares[0]]
        whole = max(sum(shares), LEAST_SUM) if several == "highest" else 1.0
        return [share / whole for share in shares]

    def _calibrated(self, values: list[float]) -> list[float]:
        """Return the log-odds: slope and offset apply to the decision values before the thresholds."""
        pairs, thresholds = self.description["calibration"], self.description["thresholds"]
        if pairs is None:
            return values
        lines = zip(values, thresholds, pairs, strict=True)
        return [(value + threshold) * slope + offset for value, threshold, (slope, offset) in lines]

    def explain(self, text: str) -> list[dict[str, Any]]:
        """Return the terms that were found, the one that counts most first, each with what it adds."""
        terms, weights = self.description["terms"], self.description["weights"]
        counts = self.counts(text)
        found = [
            {"term": terms[number], "count": counts[number], "adds": [value * w for w in weights[number]]}
            for number, value in self.inputs(text)
        ]
        return sorted(found, key=lambda each: -max(map(abs, each["adds"])))


def _logistic(value: float) -> float:
    if value >= 0:
        return 1.0 / (1.0 + math.exp(-value))
    power = math.exp(value)
    return power / (1.0 + power)


class Analyser:
    """The function from a text to its terms that a model describes."""

    def __init__(self, text: dict[str, Any]) -> None:
        self._lower = None if text["lowercase"] is None else Lower(text["lowercase"])
        self._analyzer, (self._least, self._most) = text["analyzer"], text["ngrams"]
        self._stops, self._stem = frozenset(text["stop_words"]), text["stem"]
        if self._analyzer == "word":
            token = text["token"]
            self._tokens = re.compile(f"{_class(token['characters'])}{{{token['least']},}}")
            self._word = None if token["word"] is None else Ranges(token["word"])
            self._bounds = token["starts_word"], token["ends_word"]
        else:
            space = _class(text["spaces"])
            self._gaps, self._pieces = (
                re.compile(f"{space}{{2,}}"),
                re.compile(_class(text["spaces"], "^") + "+"),
            )

    def __call__(self, text: str) -> Iterator[str]:
        """Yield the terms of a text, as often as they occur."""
        if self._lower is not None:
            text = self._lower(text)
        if self._analyzer == "word":
            return self._ngrams(self._words(text))
        if self._analyzer == "char":
            return self._characters(self._gaps.sub(" ", text))
        return self._padded(text)

    def _words(self, text: str) -> list[str]:
        if self._word is None:
            tokens = self._tokens.findall(text)
        else:
            starts, ends = self._bounds
            tokens = [
                match.group()
                for match in self._tokens.finditer(text)
                if not (starts and match.start() and text[match.start() - 1] in self._word)
                and not (ends and match.end() < len(text) and text[match.end()] in self._word)
            ]
        if self._stops:
            tokens = [token for token in tokens if token not in self._stops]
        return list(map(porter_stem, tokens)) if self._stem else tokens

    def _ngrams(self, tokens: list[str]) -> Iterator[str]:
        for n in range(self._least, min(self._most, len(tokens)) + 1):
            if n == 1:
                yield from tokens
            else:
                for i in range(len(tokens) - n + 1):
                    yield " ".join(tokens[i : i + n])

    def _characters(self, text: str) -> Iterator[str]:
        for n in range(self._least, min(self._most, len(text)) + 1):
            for i in range(len(text) - n + 1):
                yield text[i : i + n]

    def _padded(self, text: str) -> Iterator[str]:
        for word in self._pieces.findall(text):
            padded = f" {word} "
            for n in range(self._least, self._most + 1):
                for i in range(max(len(padded) - n, 0) + 1):
                    yield padded[i : i + n]
                if len(padded) <= n:
                    break


def _class(ranges: list[int], negated: str = "") -> str:
    pairs = zip(ranges[::2], ranges[1::2], strict=True)
    return "[" + negated + "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in pairs) + "]"


class Ranges:
    """A set of characters, as the first and last code point of each range."""

    def __init__(self, ranges: list[int]) -> None:
        self._firsts, self._lasts = ranges[::2], ranges[1::2]

    def __contains__(self, character: str) -> bool:
        at = bisect_right(self._firsts, ord(character)) - 1
        return at >= 0 and ord(character) <= self._lasts[at]


class Lower:
    """Lower-casing by the model's own table, the same under every version of Unicode."""

    def __init__(self, table: dict[str, Any]) -> None:
        self._table: dict[int, int | str] = {}
        for first, last, step, distance in table["runs"]:
            self._table.update((point, point + distance) for point in range(first, last + 1, step))
        self._table.update(dict(table["longer"]))
        sigma = table["final_sigma"]
        self._sigma: tuple[Ranges, Ranges] | None = None
        if sigma is not None:
            self._sigma = Ranges(sigma["cased"]), Ranges(sigma["ignored"])

    def __call__(self, text: str) -> str:
        """Return the text in lower case."""
        if text.isascii():
            return text.lower()
        if self._sigma is not None and CAPITAL_SIGMA in text:
            text = self._with_final_sigmas(text)
        return text.translate(self._table)

    def _with_final_sigmas(self, text: str) -> str:
        """Return the text with each capital sigma at the end of a word in its lower case."""
        letters = list(text)
        for i, letter in enumerate(text):
            if letter == CAPITAL_SIGMA and self._is_cased(text, i, -1) and not self._is_cased(text, i, 1):
                letters[i] = FINAL_SIGMA
        return "".join(letters)

    def _is_cased(self, text: str, i: int, step: int) -> bool:
        """Whether the next character that is not to be ignored has a case."""
        assert self._sigma is not None
        cased, ignored = self._sigma
        i += step
        while 0 <= i < len(text) and text[i] in ignored:
            i += step
        return 0 <= i < len(text) and text[i] in cased


# Porter's algorithm of 1980, in the form of the Snowball project.
VOWELS = frozenset("aeiouy")
STEP_2 = {
    **{"tional": "tion", "enci": "ence", "anci": "ance", "abli": "able", "entli": "ent", "eli": "e"},
    **{"izer": "ize", "ization": "ize", "ational": "ate", "ation": "ate", "ator": "ate", "alism": "al"},
    **{"aliti": "al", "alli": "al", "fulness": "ful", "ousli": "ous", "ousness": "ous", "iveness": "ive"},
    **{"iviti": "ive", "biliti": "ble"},
}
STEP_3 = {"icate": "ic", "iciti": "ic", "ical": "ic", "ative": "", "alize": "al", "ful": "", "ness": ""}
STEP_4 = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ou", "ism"),
    *("ate", "iti", "ous", "ive", "ize", "ion"),
)
DOUBLED = ("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt")


def porter_stem(word: str) -> str:
    """Return the stem of an English word in lower case; a "y" that is a consonant is "Y" on the way."""
    letters = list(word)
    for i, letter in enumerate(letters):
        if letter == "y" and (i == 0 or letters[i - 1] in VOWELS):
            letters[i] = "Y"
    stem = "".join(letters)
    first = _after_syllable(stem, 0)
    second = _after_syllable(stem, first)
    stem = _plurals_and_participles(stem, first)
    if stem[-1:] in ("y", "Y") and _has_vowel(stem[:-1]):
        stem = stem[:-1] + "i"
    for endings in (STEP_2, STEP_3):
        found = _ending(stem, endings)
        if found and len(stem) - len(found) >= first:
            stem = stem[: len(stem) - len(found)] + endings[found]
    found = _ending(stem, STEP_4)
    if found and len(stem) - len(found) >= second and (found != "ion" or stem[-4:-3] in ("s", "t")):
        stem = stem[: len(stem) - len(found)]
    if stem.endswith("e"):
        at = len(stem) - 1
        if at >= second or (at >= first and not _is_short(stem[:-1])):
            stem = stem[:-1]
    if stem.endswith("ll") and len(stem) - 1 >= second:
        stem = stem[:-1]
    return stem.replace("Y", "y")


def _plurals_and_participles(stem: str, first: int) -> str:
    found = _ending(stem, ("sses", "ies", "ss", "s"))
    if found != "ss" and found:
        stem = stem[: len(stem) - len(found)] + {"sses": "ss", "ies": "i", "s": ""}[found]
    found = _ending(stem, ("eed", "ed", "ing"))
    if found == "eed":
        return stem[:-1] if len(stem) - 3 >= first else stem
    if found is None or not _has_vowel(stem[: len(stem) - len(found)]):
        return stem
    stem = stem[: len(stem) - len(found)]
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if stem.endswith(DOUBLED):
        return stem[:-1]
    return stem + "e" if len(stem) == first and _is_short(stem) else stem


def _after_syllable(stem: str, start: int) -> int:
    """Return the place after the first consonant that follows a vowel, or the end."""
    i = start
    while i < len(stem) and stem[i] not in VOWELS:
        i += 1
    while i < len(stem) and stem[i] in VOWELS:
        i += 1
    return min(i + 1, len(stem))


def _has_vowel(stem: str) -> bool:
    return not VOWELS.isdisjoint(stem)


def _is_short(stem: str) -> bool:
    """Whether a stem ends with consonant, vowel, consonant, and the last is none of w, x and Y."""
    if len(stem) < 3 or stem[-1] in VOWELS or stem[-1] in "wxY":
        return False
    return stem[-2] in VOWELS and stem[-3] not in VOWELS


def _ending(stem: str, endings: Any) -> str | None:
    return max((ending for ending in endings if stem.endswith(ending)), key=len, default=None)


def check(found: Any) -> None:
    """Raise ModelError if a description cannot be used, whatever it holds."""
    _is(isinstance(found, dict), "it is no JSON object")
    _is(found.get("format") == FORMAT, f"its format is not {FORMAT!r}")
    version = found.get("version")
    _is(_whole(version, 1, 1 << 30), "its version is no number")
    _is(version <= VERSION, f"its version is {version} and this scorer reads {VERSION}; update termsieve")
    _check_text(found.get("text"))
    terms, classes = found.get("terms"), found.get("classes")
    _is(_texts(terms) and terms, "its terms are no list of texts")
    _is(len(set(terms)) == len(terms), "it has a term twice")
    _is(isinstance(classes, list) and all(map(_is_label, classes)), "its classes are no list of labels")
    _is(len(set(classes)) == len(classes), "it has a class twice")
    _one_of(found, "values", VALUES)
    _one_of(found, "decision", DECISIONS)
    _one_of(found, "probability", PROBABILITIES)
    _is(isinstance(found.get("unit_length"), bool), "its unit_length is not true or false")
    _check_numbers(found, len(terms), len(classes))


def _check_numbers(found: dict[str, Any], n_terms: int, n_classes: int) -> None:
    decision, probability = found["decision"], found["probability"]
    _is(n_classes == 2 if decision == "two" else n_classes > 0, "it has another number of classes")
    _is(probability != "softmax" or decision == "highest", "its probability does not fit its decision")
    n_rows = 1 if decision == "two" else n_classes
    for name in ("intercepts", "thresholds"):
        _is(_finite(found.get(name), n_rows), f"its {name} are not {n_rows} finite numbers")
    pairs: Any = found.get("calibration", 0)
    if pairs is not None:
        fits = isinstance(pairs, list) and len(pairs) == n_rows and all(_finite(pair, 2) for pair in pairs)
        _is(fits and probability == "logistic", f"its calibration is not {n_rows} pairs of finite numbers")
    if found.get("scales") is not None:
        _is(_finite(found["scales"], n_terms), f"its scales are not {n_terms} finite numbers")
    _is("scales" in found, "its scales are missing")
    weights: Any = found.get("weights")
    fits = isinstance(weights, list) and len(weights) == n_terms
    _is(fits and all(_finite(row, n_rows) for row in weights), f"its weights are not {n_rows} per term")


def _check_text(text: Any) -> None:
    _is(isinstance(text, dict), "it does not say how a text becomes terms")
    _one_of(text, "analyzer", ANALYZERS)
    _one_of(text, "stem", STEMS)
    _is(_texts(text.get("stop_words")), "its stop_words are no list of texts")
    ngrams = text.get("ngrams")
    _is(isinstance(ngrams, list) and len(ngrams) == 2, "its ngrams are no pair")
    _is(all(_whole(n, 1, MOST_N) for n in ngrams), f"its ngrams are not from 1 to {MOST_N}")
    _is(ngrams[0] <= ngrams[1], "its ngrams end before they begin")
    if text["analyzer"] == "word":
        token = text.get("token")
        _is(isinstance(token, dict), "it does not say what a token is")
        _check_ranges(token.get("characters"), "token characters")
        _is(_whole(token.get("least"), 1, MOST_LEAST), f"its shortest token is not from 1 to {MOST_LEAST}")
        _is("word" in token, "its word characters are missing")
        if token["word"] is not None:
            _check_ranges(token["word"], "word characters")
        bounds = token.get("starts_word"), token.get("ends_word")
        _is(all(isinstance(bound, bool) for bound in bounds), "its tokens have unclear ends")
    else:
        _check_ranges(text.get("spaces"), "spaces")
    _is("lowercase" in text, "it does not say whether texts are lower-cased")
    if text["lowercase"] is not None:
        _check_lower(text["lowercase"])


def _check_lower(table: Any) -> None:
    said = "its lower-casing table is damaged"
    _is(isinstance(table, dict) and isinstance(table.get("runs"), list), said)
    runs = table["runs"]
    _is(0 < len(runs) <= MOST_RANGES and runs[0] == PLAIN, said)
    for run in runs:
        _is(isinstance(run, list) and len(run) == 4 and all(_whole(n, -LAST, LAST) for n in run), said)
        first, last, step, distance = run
        _is(0 <= first <= last and step in (1, 2) and first + distance >= 0, said)
        _is(last + distance <= LAST, said)
    _is(all(before[0] < after[0] for before, after in pairwise(runs)), said)
    _is(sum((last - first) // step + 1 for first, last, step, _ in runs) <= LAST, said)
    longer = table.get("longer")
    _is(isinstance(longer, list) and len(longer) <= MOST_RANGES, said)
    for pair in longer:
        _is(isinstance(pair, list) and len(pair) == 2 and _whole(pair[0], 128, LAST), said)
        _is(isinstance(pair[1], str) and len(pair[1]) <= 4, said)
    _is("final_sigma" in table, said)
    if table["final_sigma"] is not None:
        _is(isinstance(table["final_sigma"], dict), said)
        for name in ("cased", "ignored"):
            _check_ranges(table["final_sigma"].get(name), f"{name} characters")


def _check_ranges(found: Any, name: str) -> None:
    said = f"its {name} are no ascending ranges of code points"
    _is(isinstance(found, list) and 0 < len(found) <= 2 * MOST_RANGES and len(found) % 2 == 0, said)
    _is(all(_whole(n, 0, LAST) for n in found), said)
    _is(all(first <= last for first, last in zip(found[::2], found[1::2], strict=True)), said)
    _is(all(last < first for last, first in zip(found[1::2], found[2::2], strict=False)), said)


def _is(true: Any, said: str) -> None:
    if not true:
        raise ModelError(said)


def _one_of(found: dict[str, Any], name: str, known: tuple[str | None, ...]) -> None:
    value = found.get(name, 0)
    words = ", ".join(str(each) for each in known)
    _is((value is None or isinstance(value, str)) and value in known, f"its {name} is not one of {words}")


def _whole(value: Any, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _is_label(value: Any) -> bool:
    return isinstance(value, str) or (_is_number(value) and not isinstance(value, bool))


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return abs(value) < 1e300  # false for NaN as well


def _finite(values: Any, n: int) -> bool:
    return isinstance(values, list) and len(values) == n and all(map(_is_number, values))


def _no_number(name: str) -> None:
    raise ModelError(f"it holds {name}, which is no number")


def _scored_lines(model: Model) -> None:
    """Print the class and the decision value of each line of standard input."""
    source, out = sys.stdin.buffer, sys.stdout
    for line in source:
        values = model.values(line.decode("utf-8", "replace").rstrip("\r\n"))
        label = model.decided(values)
        name = ";".join(map(str, label)) if isinstance(label, list) else str(label)
        out.write(f"{name}\t{max(values) if values else 0.0!r}\n")


EMBEDDED: str | None = None  # `termsieve export --to python` puts the model here


def main(arguments: list[str]) -> int:
    """Score standard input with the model that is named, or with the embedded one."""
    if len(arguments) != (EMBEDDED is None):
        named = " model.json" if EMBEDDED is None else ""
        sys.stderr.write(f"usage: python {sys.argv[0]}{named} < texts.txt, one text per line\n")
        return 2
    try:
        _scored_lines(load(arguments[0]) if EMBEDDED is None else loads(EMBEDDED))
    except ModelError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
