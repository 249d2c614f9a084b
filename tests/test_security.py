"""Every promise of SECURITY.md has its tests; those that no other file has are here."""

import ast
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from termsieve import Corpus, Counts, TermSelector, count, estimators, get_learner, read
from termsieve.counts.shards import write_shards
from termsieve.errors import InputError, TermsieveError
from termsieve.learners import LEARNERS
from termsieve.learners.paths import decision_path

TESTS = Path(__file__).parent
PROMISES = {
    "Nothing in a file is run.": [
        "test_saved.py::test_a_vectorizer_with_a_wild_parameter_is_refused",
        "test_saved.py::test_what_a_file_adds_to_an_estimator_is_left_out",
        "test_saved.py::test_linear_patterns",
        "test_saved.py::test_other_estimators_are_not_loaded",
        "test_models.py::test_a_foreign_file_is_not_loaded",
        "test_security.py::test_nothing_is_unpickled",
        "test_fuzz.py::test_a_changed_file_is_read_or_refused",
    ],
    "No memory is touched out of bounds.": [
        "test_security.py::test_a_wild_index_is_refused_by_every_estimator_and_learner",
        "test_kernels_hostile.py::test_an_index_beyond_the_columns_is_refused",
        "test_kernels_hostile.py::test_a_vocabulary_with_a_wild_column_is_refused",
        "test_counts_archive.py::test_a_checkpoint_with_wild_arrays_is_refused",
        "test_counts_archive.py::test_a_shard_with_wild_arrays_is_refused",
        "test_saved.py::test_arrays_that_cannot_be_are_refused",
        "test_saved.py::test_sparse_weights_with_wild_indices_are_refused",
    ],
    "Damage is noticed.": [
        "test_counts_storage.py::test_every_flipped_bit_is_noticed",
        "test_counts_archive.py::test_flipped_bits_of_checkpoints_and_shards_are_noticed",
        "test_studies_results.py::test_every_flipped_bit_is_noticed",
        "test_studies_results.py::test_missing_truncated_and_copied_parts_are_named",
        "test_readers_files.py::test_a_packed_table_that_is_cut_short",
        "test_readers_files.py::test_a_packed_table_with_a_changed_bit",
        "test_readers_files.py::test_an_archive_that_is_cut_short",
        "test_readers_files.py::test_the_checksum_behind_a_tar_is_looked_at",
    ],
    "Limits.": [
        "test_readers_all.py::test_a_small_file_that_holds_much_is_refused",
        "test_readers_all.py::test_one_endless_line_is_refused",
        "test_readers_all.py::test_a_wild_svmlight_index_is_refused",
        "test_readers_all.py::test_the_limit_is_an_option_of_the_command_line",
        "test_readers_all.py::test_a_pipe_or_device_is_refused",
        "test_saved.py::test_a_member_that_is_named_often_counts_as_often",
        "test_saved.py::test_numbers_of_nodes_cannot_make_a_small_file_huge",
    ],
    "Only our own files are touched.": [
        "test_files.py::test_a_planted_link_is_replaced_and_not_followed",
        "test_files.py::test_only_files_with_the_mark_are_leftovers",
        "test_files.py::test_what_is_kept_is_found_again_and_only_if_nobody_else_can_have_written_it",
        "test_studies_runner.py::test_a_refused_run_changes_nothing",
        "test_studies_results.py::test_only_own_leftovers_are_removed",
        "test_faults.py::test_a_command_that_fails_leaves_the_old_file_or_the_new_one",
    ],
    "Reports run nothing and load nothing.": [
        "test_reports.py::test_hostile_words_and_labels_stay_text",
        "test_reports.py::test_the_policy_allows_the_own_scripts_and_nothing_from_outside",
        "test_reports_browser.py::test_hostile_labels_and_words_are_text",
        "test_reports_explorer.py::test_hostile_documents_are_text",
    ],
    "Nothing controls the terminal.": [
        "test_cli_output.py::test_a_terminal_gets_no_escape_sequence_from_data_names_or_arguments",
        "test_cli_output.py::test_tables_on_a_terminal_hold_only_the_styles_of_the_table",
        "test_cli_output.py::test_no_spreadsheet_runs_a_word_or_a_label",
    ],
}


def test_every_promise_has_its_tests():
    text = (TESTS.parent / "SECURITY.md").read_text(encoding="utf-8")
    assert re.findall(r"^- \*\*(.+?)\*\*", text, re.MULTILINE) == list(PROMISES)
    assert all(PROMISES.values())


@pytest.mark.parametrize("name", sorted({name for names in PROMISES.values() for name in names}))
def test_a_named_test_is_there(name):
    file, _, function = name.partition("::")
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    assert function in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


RUNNERS = {"pickle", "marshal", "shelve", "joblib", "dill", "cloudpickle"}
# Hands prepared corpora to the processes of the same run, in a temporary folder of its own.
WITHIN_A_RUN = Path("studies/engines.py")


def test_nothing_is_unpickled():
    """No module takes a library that runs what it reads, and numpy is told not to."""
    package = Path(estimators.__file__).parents[1]
    modules = {path.relative_to(package): path for path in package.rglob("*.py")}
    del modules[WITHIN_A_RUN]
    for path in modules.values():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                assert not RUNNERS & {alias.name.split(".")[0] for alias in node.names}, path
            elif isinstance(node, ast.ImportFrom):
                assert (node.module or "").split(".")[0] not in RUNNERS, path
            elif isinstance(node, ast.keyword) and node.arg == "allow_pickle":
                assert ast.unparse(node.value) == "False", path


# A matrix whose index is beyond its columns, wherever a matrix enters.

LABELS = ["a", "b", "a", "b", "c", "c"]
FINE = sparse.csr_matrix(np.array([[1, 0, 2], [0, 1, 0], [1, 1, 0], [0, 0, 3], [0, 2, 1], [1, 0, 1]], float))


def wild(place):
    matrix = FINE.copy()
    matrix.indices[3] = place
    return matrix


# Estimators that are made of another one.
NEEDS = {
    "DecisionClassifier": lambda: estimators.DecisionClassifier(get_learner("svm")),
    "KeptTerms": lambda: estimators.KeptTerms(TermSelector(k=2)),
}


def entrances():
    """Return what takes a matrix, by name: all estimators and learners of the package, fitted and asked."""
    found = {
        "Counts": lambda X: Counts.from_matrix(X, LABELS),
        "Corpus": lambda X: Corpus(matrix=X, labels=LABELS),
        "decision_path": lambda X: decision_path("svm", X, [1, 0] * 3, FINE, [0, 1, 2], [1, 3]),
        "decision_path of the test": lambda X: decision_path("nb", FINE, [1, 0] * 3, X, [0, 1, 2], [1, 3]),
    }
    kinds = {name: getattr(estimators, name) for name in estimators.__all__ if name != "TermVectorizer"}
    kinds |= {f"learner {name}": entry.estimator for name, entry in LEARNERS.items()}
    for name, kind in kinds.items():
        if isinstance(kind, type):
            found |= _uses(name, NEEDS.get(name, kind))
    return found


def _uses(name, make):
    method = "predict" if hasattr(make(), "predict") else "transform"
    return {
        f"{name}.fit": lambda X: make().fit(X, LABELS),
        f"{name}.{method}": lambda X: getattr(make().fit(FINE, LABELS), method)(X),
    }


def wild_matrices():
    """Return matrices of several formats with an index that is not in them."""
    for place in (3, 10**8, -1):
        for matrix in (FINE.copy(), FINE.tocsc(), FINE.tocoo()):
            if matrix.format == "coo":
                matrix.coords = (matrix.coords[0], np.where(np.arange(matrix.nnz) == 3, place, 0))
            else:
                matrix.indices[3] = place if place < 0 or matrix.format == "csr" else max(place, 6)
            yield matrix


def main():
    """Hand wild matrices to every entrance, and print its name before, so that a crash tells whose it is."""
    warnings.simplefilter("ignore")
    for name, enter in entrances().items():
        enter(FINE)
        for X in wild_matrices():
            print(name, X.format, flush=True)
            try:
                enter(X)
            except InputError:
                continue
            sys.exit(f"{name} takes a matrix with an index outside of it")


@pytest.mark.slow
def test_a_wild_index_is_refused_by_every_estimator_and_learner():
    """In a process of its own: what is not refused may end it."""
    done = subprocess.run(
        [sys.executable, "-c", "from tests.test_security import main; main()"],
        cwd=TESTS.parent,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{done.stdout[-200:]}{done.stderr[-2000:]}"
    assert len(set(done.stdout.split("\n"))) > 3 * 15


def test_a_matrix_from_a_file_is_checked_as_well(tmp_path):
    (tmp_path / "wild.svm").write_text("1 1:1 2147483646:1\n0 2:1\n")
    with pytest.raises(TermsieveError, match=r"wild\.svm"):
        read(tmp_path / "wild.svm", format="svmlight")
    with pytest.raises((InputError, ValueError)):
        write_shards(tmp_path / "shards", Corpus(matrix=wild(10**8), labels=LABELS), ["a"])
    with pytest.raises(TermsieveError):
        count(tmp_path / "wild.svm")
