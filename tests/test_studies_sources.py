"""The corpora of a study: what cannot be used is told before anything is trained."""

import pytest

from termsieve import Corpus, Plan, run_study
from termsieve.errors import StudyError

PLAN = """
[[corpora]]
name = "mail"
{corpus}
[protocol]
folds = 2
trials = 1
[problems]
kind = "{kind}"
[[methods]]
metric = "bns"
[sizes]
k = [2]
[[learners]]
name = "nb"
"""
TEXTS = ["cheap pills", "see you", "cheap watches", "you see"] * 3


def study(folder, labels, *, kind="one-vs-rest", corpus=""):
    plan = Plan.parse(PLAN.format(kind=kind, corpus=corpus), "example")
    given = {} if labels is None else {"mail": Corpus(TEXTS[: len(labels)], labels)}
    return run_study(plan, folder, corpora=given, data=folder, workers=1)


def test_documents_with_several_labels_have_no_multi_class_problem(tmp_path):
    with pytest.raises(StudyError, match=r"'mail' has documents with several labels; use one-vs-rest"):
        study(tmp_path / "out", [["spam", "ham"], ["ham"], ["spam"], ["ham"]] * 3, kind="multi-class")


def test_a_corpus_without_path_must_be_given(tmp_path):
    with pytest.raises(StudyError, match=r"'mail' has no path in the plan; give it with corpora=\{'mail'"):
        study(tmp_path / "out", None)


def test_what_a_reader_refuses_names_the_corpus(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mail.csv").write_text("a,b\n1,2\n")
    with pytest.raises(StudyError, match=r"corpus 'mail' cannot be used: "):
        study(tmp_path / "out", None, corpus='path = "mail.csv"')
