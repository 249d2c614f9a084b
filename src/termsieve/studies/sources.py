"""A plan and the folder of its paths come in; its corpora, read, checked and prepared, go out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from termsieve.corpus import Corpus
from termsieve.errors import StudyError, TermsieveError
from termsieve.readers import load_docstrings, read
from termsieve.studies.folds import drawn_parts
from termsieve.studies.plan import DEMO, Plan
from termsieve.studies.prepared import Prepared, prepared_corpus
from termsieve.studies.tasks import Described


def data_folder(data: str | os.PathLike[str] | None) -> Path:
    """Return the folder of a plan's paths: the one given, that of TERMSIEVE_DATA, or the current one."""
    return Path(data if data is not None else os.environ.get("TERMSIEVE_DATA", "."))


class Sources:
    """The corpora of a plan, each read when it is first needed; only one is held at a time."""

    def __init__(self, plan: Plan, folder: Path, given: Mapping[str, Corpus], known: Described) -> None:
        self.plan, self.folder, self.given, self.known = plan, folder, given, known
        self._held: Prepared | None = None

    def described(self) -> dict[str, Any]:
        """Return the manifest's entry of each corpus; corpora that it does not have are read."""
        return {
            entry.name: self.known[entry.name] if entry.name in self.known else self[entry.name].described()
            for entry in self.plan.corpora
        }

    def __getitem__(self, name: str) -> Prepared:
        if self._held is None or self._held.name != name:
            self._held = None
            self._held = self._checked(name)
        return self._held

    def _checked(self, name: str) -> Prepared:
        try:
            corpus = self.given[name] if name in self.given else self._read(name)
            data = prepared_corpus(self.plan, name, corpus)
        except StudyError:
            raise
        except TermsieveError as error:
            raise StudyError(f"corpus '{name}' cannot be used: {error}") from error
        for part in drawn_parts(self.plan, data, 0):
            if not len(part.train) or not len(part.test):
                raise StudyError(f"corpus '{name}' is too small: a fold has no training or no test document")
        if self.plan.problems.kind == "multi-class" and data.labels.ndim > 1:
            raise StudyError(f"corpus '{name}' has documents with several labels; use one-vs-rest problems")
        if name in self.known and self.known[name]["fingerprint"] != data.fingerprint():
            raise StudyError(
                f"corpus '{name}' has changed since the study began ({self.known[name]['documents']:,} "
                f"documents then, {len(data):,} now); restore the old corpus, or use another directory"
            )
        return data

    def _read(self, name: str) -> Corpus:
        entry = self.plan.corpus(name)
        if entry.format == DEMO:
            return load_docstrings()
        if entry.path is None:
            raise StudyError(
                f"corpus '{name}' has no path in the plan; give it with corpora={{'{name}': ...}}"
            )
        path = self.folder / entry.path
        if not path.exists() and not any(sign in entry.path for sign in "*?["):
            raise StudyError(
                f"corpus '{name}' is not at {path}; say where the corpora are with data= (--data)"
            )
        options = dict(entry.options)
        if entry.format == "svmlight":
            for key in ("terms", "labels"):
                if isinstance(options.get(key), str):
                    options[key] = self.folder / options[key]
        return read(path, entry.format, **options)
