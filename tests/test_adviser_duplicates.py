"""Near-duplicates against a comparison of all pairs, and the groups that no split divides."""

import numpy as np
import pytest
from scipy import sparse

from termsieve import Corpus, advise
from termsieve.adviser import stages
from termsieve.adviser.duplicates import SIMILAR, kept_together, near_duplicates, next_alike
from termsieve.adviser.folds import Task
from termsieve.adviser.verdicts import Verdicts
from termsieve.errors import InputError


def bags(n_docs=120, copies=25, seed=0):
    """Sets of 20 of 400 terms; the last documents are others with up to three terms exchanged."""
    generator = np.random.default_rng(seed)
    sets = [set(generator.choice(400, size=20, replace=False).tolist()) for _ in range(n_docs)]
    for i in range(copies):
        copied = sorted(sets[i])
        sets.append({*copied[i % 4 :], *generator.integers(0, 400, size=i % 4).tolist()})
    rows = [[float(term in bag) * (1 + term % 3) for term in range(400)] for bag in sets]
    return sets, sparse.csr_matrix(rows)


def test_groups_are_those_of_a_comparison_of_all_pairs():
    sets, words = bags()
    group = near_duplicates(words)
    together = 0
    for i in range(120, 145):
        for j in range(len(sets)):
            alike = len(sets[i] & sets[j]) / len(sets[i] | sets[j]) >= SIMILAR
            assert (group[i] == group[j]) == alike, (i, j)
            together += alike and i != j
    assert together >= 10


def test_documents_without_terms_are_alone():
    words = sparse.csr_matrix([[0, 0], [1, 1], [0, 0], [2, 1]])
    group = near_duplicates(words)
    assert group[1] == group[3]
    assert len(set(group.tolist())) == 3
    assert len(set(near_duplicates(sparse.csr_matrix((3, 2))).tolist())) == 3


def test_given_groups_and_near_duplicates_are_joined():
    _, words = bags()
    truth = np.arange(145)[:, None] % 2 == 0
    given = np.arange(145)
    given[1] = given[0]  # 0 and 1 belong together, and 120 is a copy of 0
    group, found = kept_together(words, truth, given)
    assert group[0] == group[1] == group[120] != group[2]
    assert found.kept_together
    assert found.largest == 2


def test_a_class_of_equal_documents_cannot_be_kept_together():
    words = sparse.csr_matrix(np.vstack([np.ones((6, 3)), np.eye(60, 3)[:, :3]]))
    truth = np.arange(66)[:, None] < 6
    group, found = kept_together(words, truth, None)
    assert group is None
    assert "too many to be kept on one side" in found.sentence


def test_given_groups_that_near_duplicates_join_to_one_are_kept_as_given():
    """Each group shares a document with the next: all would be one group, and nothing could be tested."""
    generator = np.random.default_rng(0)
    bags = [generator.random(60) < 0.3 for _ in range(90)]
    given = np.arange(90) // 10
    for g in range(8):
        bags[10 * g + 10] = bags[10 * g]
    group, found = kept_together(
        sparse.csr_matrix(np.array(bags, float)), np.arange(90)[:, None] % 2 == 0, given
    )
    assert group is given
    assert not found.kept_together


def test_one_group_is_refused():
    mail = Corpus(["buy now", "see you"] * 20, ["spam", "ham"] * 20)
    with pytest.raises(InputError, match="group has the same value for all documents"):
        advise(mail, groups=["ann"] * 40)


def test_near_duplicates_do_not_raise_the_promise():
    """Labels are chance; copies with one word exchanged would give the answer away."""
    generator = np.random.default_rng(5)
    texts, labels = [], []
    for i in range(60):
        words = [f"word{j}" for j in generator.choice(300, size=15, replace=False)]
        label = str(generator.choice(["ham", "spam"]))
        for copy in range(3):
            texts.append(" ".join([*words, f"copy{i}{copy}"]))
            labels.append(label)
    found = advise(Corpus(texts, labels), minutes=0.02)
    assert found.duplicates.n_documents == 180
    assert found.promise.measured < 0.75
    assert "180 documents are equal or nearly equal to others (60 groups, the largest of 3)" in (
        found.explanation()
    )
    assert found.to_dict()["duplicates"]["largest"] == 3


def test_nothing_is_said_where_none_are_alike():
    _, found = kept_together(bags(copies=0)[1], np.arange(120)[:, None] % 2 == 0, None)
    assert (found.sentence, found.n_documents) == ("", 0)


def test_a_document_that_repeats_another_is_said_to_be_what_that_one_is():
    """Documents 0 and 2 of four are near-duplicates."""
    truth = np.array([[True], [False], [True], [True]])
    task = Task(sparse.csr_matrix(np.eye(4)), truth, True)
    rows = np.array([2, 3, 0])
    verdicts = Verdicts(truth[rows], ~truth[rows], True)
    found = stages._as_repeats(verdicts, task, rows, next_alike(np.array([0, 1, 0, 2])))
    assert found.said.ravel().tolist() == [True, False, True]
    assert stages._as_repeats(verdicts, task, rows, None) is verdicts
