"""Runs: engines agree, killed runs go on, what goes wrong has a clear message and loses nothing."""

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from termsieve.errors import StudyError
from termsieve.files import MARK
from termsieve.ranking import ALL, Size
from termsieve.studies import (
    Plan,
    load_plan,
    merge_studies,
    resume_study,
    run_study,
    stored_plan,
    study_estimate,
    study_status,
    study_summary,
)
from termsieve.studies.manifest import manifest_text
from termsieve.studies.results import ROW_KEYS, Results
from termsieve.studies.store import Store

PLAN = """
name = "small"
[[corpora]]
name = "mails"
path = "mails.csv"
options = { text = "text", label = "label" }
[[corpora]]
name = "posts"
path = "posts.csv"
options = { text = "text", label = "label" }
[protocol]
trials = 2
folds = 3
seed = 1
[[methods]]
metric = ["bns", "chi_squared"]
[sizes]
k = [2, 5]
all = true
[[learners]]
name = "svm"
"""
WORDS = [f"w{i}" for i in range(30)]


def n_rows(n_problems, runs=6, methods=2, sizes=2):
    return n_problems * runs * (methods * sizes + 1)


def write_corpus(path, n_docs, classes, seed=0):
    random = np.random.default_rng(seed)
    labels = [classes[i] for i in random.integers(len(classes), size=n_docs)]
    texts = [
        " ".join(random.choice(WORDS[classes.index(label) :: len(classes)], 6))
        + " "
        + " ".join(random.choice(WORDS, 6))
        for label in labels
    ]
    pl.DataFrame({"text": texts, "label": labels}).write_csv(path)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_corpus(folder / "mails.csv", 60, ["spam", "ham"])
    write_corpus(folder / "posts.csv", 90, ["art", "law", "sport"], seed=1)
    (folder / "plan.toml").write_text(PLAN)
    return folder


@pytest.fixture(scope="module")
def undisturbed(data, tmp_path_factory):
    return run_study(data / "plan.toml", tmp_path_factory.mktemp("runs") / "one", data=data, workers=1)


@pytest.fixture
def small_units(monkeypatch):
    monkeypatch.setattr("termsieve.studies.tasks.UNIT_SECONDS", 0.0)


def test_a_run_has_every_row_once(undisturbed):
    rows = undisturbed.frame().collect()
    assert rows.height == n_rows(1 + 3)  # two classes are one problem
    assert not rows.select(ROW_KEYS).is_duplicated().any()
    assert undisturbed.failures == {}
    assert undisturbed.manifest["seed"] == 1
    assert undisturbed.manifest["runs"][0]["trainings"] == rows.height
    assert set(undisturbed.corpora) == {"mails", "posts"}
    assert study_status(undisturbed.path).finished


def test_processes_give_the_same_rows(data, undisturbed, tmp_path):
    two = run_study(data / "plan.toml", tmp_path / "two", data=data, workers=2)
    assert two.equals(undisturbed)
    assert two.manifest["runs"][0]["largest_worker_mb"] > 10


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same_rows(data, undisturbed, tmp_path, dask_cluster):
    from termsieve.studies.dask import DaskEngine

    with DaskEngine(dask_cluster.scheduler_address) as engine:
        results = run_study(data / "plan.toml", tmp_path / "dask", data=data, engine=engine)
    assert results.equals(undisturbed)


def test_what_is_finished_is_not_run_again(data, undisturbed, tmp_path, small_units):
    states = []
    run_study(data / "plan.toml", tmp_path, data=data, workers=1, share=(1, 2), progress=states.append)
    half = study_status(tmp_path)
    assert 0 < half.trainings < half.all_trainings == n_rows(4)
    assert states[-1].trainings == half.trainings
    resume_study(tmp_path, data=data, workers=1, progress=states.append)
    assert states[-1].trainings == half.all_trainings - half.trainings
    assert Results.open(tmp_path).equals(undisturbed)
    before = len(states)
    resume_study(
        tmp_path, data=tmp_path / "nowhere", progress=states.append
    )  # nothing left: no corpus is read
    assert len(states) == before


@pytest.mark.slow
def test_two_halves_merge(data, undisturbed, tmp_path, small_units):
    for i in (1, 2):
        run_study(data / "plan.toml", tmp_path / f"part{i}", data=data, workers=1, share=(i, 2))
    run_study(
        data / "plan.toml", tmp_path / "part1", data=data, workers=1, share=(1, 3)
    )  # some rows are in both
    merged = merge_studies(tmp_path / "part1", tmp_path / "part2", tmp_path / "whole")
    assert merged.equals(undisturbed)
    assert study_status(merged.path).finished
    with pytest.raises(StudyError, match="not an empty directory"):
        merge_studies(tmp_path / "part1", tmp_path / "part2", tmp_path / "whole")
    run_study(Plan.parse(PLAN.replace("seed = 1", "seed = 2")), tmp_path / "other", data=data, workers=1)
    with pytest.raises(StudyError, match=r"different plans:\n  -protocol.*seed=1\n  \+protocol.*seed=2"):
        merge_studies(tmp_path / "part1", tmp_path / "other", tmp_path / "no")


def test_rows_that_disagree_are_not_merged(data, undisturbed, tmp_path):
    for name in ("a", "b"):
        store = Store(tmp_path / name)
        store.write_manifest(**undisturbed.manifest | {"parts": {}, "vocabulary": {}})
        rows = undisturbed.frame().collect()
        store.write_unit(
            "x", rows.with_columns(tp=pl.col("tp") + (name == "b")), undisturbed.selections().collect()
        )
        store.close()
    with pytest.raises(StudyError, match="disagree"):
        merge_studies(tmp_path / "a", tmp_path / "b", tmp_path / "c")


def test_a_changed_plan_is_refused_unless_it_adds(data, undisturbed, tmp_path):
    fewer = (
        PLAN.replace('"bns", "chi_squared"', '"bns"')
        .replace("k = [2, 5]", "k = [5]")
        .replace("trials = 2", "trials = 1")
    )
    run_study(Plan.parse(fewer), tmp_path, data=data, workers=1)
    with pytest.raises(StudyError, match=r"extend=True.*\n[^-]*\+method chi_squared") as caught:
        run_study(data / "plan.toml", tmp_path, data=data, workers=1)
    assert "+size k=2" in str(caught.value)
    extended = run_study(data / "plan.toml", tmp_path, data=data, workers=1, extend=True)
    assert extended.sorted_rows().equals(undisturbed.sorted_rows())
    for change in (("seed = 1", "seed = 2"), ('"bns", "chi_squared"', '"bns"')):
        with pytest.raises(StudyError, match="may only add"):
            run_study(Plan.parse(PLAN.replace(*change)), tmp_path, data=data, workers=1, extend=True)
    assert Results.open(tmp_path).equals(extended)


def n_finished(path):
    return len(Results.open(path).parts) if (path / "manifest.json").exists() else 0


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_stopped(data, undisturbed, tmp_path):
    """kill -9 at random moments; the script benchmarks/kill_resume.py does it twenty times."""
    code = (
        "import termsieve.studies.tasks as tasks; tasks.UNIT_SECONDS = 0.0\n"
        "from termsieve import run_study\n"
        f"run_study({str(data / 'plan.toml')!r}, {str(tmp_path)!r}, data={str(data)!r}, workers=1)\n"
    )
    random = np.random.default_rng(3)
    kills = 0
    while kills < 2:
        child = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 600
        seen = n_finished(tmp_path)
        # Wait until this run has finished a unit, so that each kill hits the work and not the imports.
        while n_finished(tmp_path) == seen and child.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.002)
        time.sleep(float(random.random()) * 0.05)
        child.send_signal(signal.SIGKILL)
        child.wait()
        kills += 1
    done = study_status(tmp_path)
    assert 0 < done.trainings <= done.all_trainings
    resumed = resume_study(tmp_path, data=data, workers=1)
    assert resumed.equals(undisturbed)
    assert not resumed.frame().collect().select(ROW_KEYS).is_duplicated().any()
    assert resumed.verify() == {}
    assert not list(tmp_path.glob(f"**/.*{MARK}"))
    assert {file.stem for file in tmp_path.glob("*/*-*.parquet")} == set(resumed.manifest["parts"])


def test_a_failed_unit_is_recorded_and_the_others_go_on(
    data, undisturbed, tmp_path, monkeypatch, small_units
):
    import termsieve.studies.engines as engines

    real = engines.unit_result

    def faulty(plan, corpus, unit):
        if unit.tasks[0].problem == "law" and unit.fold == 0:
            raise ZeroDivisionError("an accident")
        return real(plan, corpus, unit)

    monkeypatch.setattr(engines, "unit_result", faulty)
    results = run_study(data / "plan.toml", tmp_path, data=data, workers=1)
    assert len(results.failures) == 2 * 3
    assert all("ZeroDivisionError: an accident" in text for text in results.failures.values())
    assert study_status(tmp_path).failed == 6
    assert len(results) == n_rows(4) - 2 * 5
    monkeypatch.setattr(engines, "unit_result", real)
    again = resume_study(tmp_path, data=data, workers=1)
    assert again.failures == {}
    assert again.equals(undisturbed)


@pytest.mark.slow
def test_a_dying_worker_fails_alone(data, undisturbed, tmp_path):
    code = f"""
import os, sys
import termsieve.studies.engines as engines
real = engines.unit_result
def deadly(plan, corpus, unit):
    if unit.corpus == "mails" and (unit.trial, unit.fold) == (0, 1):
        os._exit(9)
    return real(plan, corpus, unit)
engines.unit_result = deadly
if __name__ == "__main__":
    from termsieve import run_study
    results = run_study({str(data / "plan.toml")!r}, {str(tmp_path / "out")!r}, data={str(data)!r}, workers=2)
    assert results.failures
    assert all("mails-0-1" in name for name in results.failures), list(results.failures)
"""
    script = tmp_path / "script.py"
    script.write_text(code)
    subprocess.run([sys.executable, script], check=True, timeout=600)
    assert resume_study(tmp_path / "out", data=data, workers=1).equals(undisturbed)


def test_ctrl_c_waits_for_the_running_unit(data, undisturbed, tmp_path, small_units):
    def press(state):
        if state.units == 3:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run_study(data / "plan.toml", tmp_path, data=data, workers=1, progress=press)
    assert len(Results.open(tmp_path).parts) == 3
    assert resume_study(tmp_path, data=data, workers=1).equals(undisturbed)


def test_a_corpus_that_is_missing_or_changed(data, tmp_path, small_units):
    with pytest.raises(StudyError, match=r"corpus 'mails' is not at .*--data"):
        run_study(data / "plan.toml", tmp_path / "a", data=tmp_path)
    own = tmp_path / "data"
    own.mkdir()
    for name in ("mails.csv", "posts.csv"):
        (own / name).write_bytes((data / name).read_bytes())
    run_study(data / "plan.toml", tmp_path / "b", data=own, workers=1, share=(1, 2))
    before = len(Results.open(tmp_path / "b"))
    write_corpus(own / "posts.csv", 91, ["art", "law", "sport"])
    with pytest.raises(
        StudyError, match=r"corpus 'posts' has changed since .* \(90 documents then, 91 now\)"
    ):
        resume_study(tmp_path / "b", data=own, workers=1)
    assert len(Results.open(tmp_path / "b")) >= before > 0


def test_a_directory_that_cannot_be_written(data, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StudyError, match="cannot write"):
        run_study(data / "plan.toml", tmp_path / "file" / "out", data=data)


def test_a_full_disk_loses_nothing_that_was_finished(data, undisturbed, tmp_path, small_units):
    """A limit on the size of files stands in for the disk; it hits the third part."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def full(state):
        if state.units == 2:
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))

    try:
        with pytest.raises(
            StudyError, match=r"cannot write .*: File too large; finished work is kept, .* resume"
        ):
            run_study(data / "plan.toml", tmp_path, data=data, workers=1, progress=full)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert len(Results.open(tmp_path).parts) == 2
    assert resume_study(tmp_path, data=data, workers=1).equals(undisturbed)


def test_one_writer_at_a_time(data, tmp_path):
    store = Store(tmp_path)
    with pytest.raises(StudyError, match="another process is writing"):
        run_study(data / "plan.toml", tmp_path, data=data)
    store.close()


def test_corpora_given_as_objects(data, undisturbed, tmp_path):
    from termsieve import read

    corpora = {name: read(data / f"{name}.csv", text="text", label="label") for name in ("mails", "posts")}
    results = run_study(data / "plan.toml", tmp_path, corpora=corpora, data=tmp_path, workers=1)
    assert results.equals(undisturbed)


def test_the_estimate(data):
    estimate = study_estimate(data / "plan.toml", data=data, calibrate_seconds=0.2)
    assert estimate.trainings == n_rows(4)
    assert estimate.problems == {"mails": 1, "posts": 3}
    assert 0 < estimate.seconds < 600
    text = study_summary(data / "plan.toml", data=data, calibrate_seconds=0)
    assert "2 corpora, 4 problems, 2 trials x 3 parts (kfold), 2 methods, 1 learner" in text
    assert "method bns" in text
    assert "is estimate for" not in text


@pytest.mark.parametrize(("values", "told"), [("", True), ('values = "counts"', False)])
def test_the_estimate_tells_of_values_that_a_learner_is_not_made_for(data, tmp_path, values, told):
    (tmp_path / "plan.toml").write_text(PLAN.replace('name = "svm"', f'name = "nb"\n{values}'))
    text = study_summary(tmp_path / "plan.toml", data=data, calibrate_seconds=0)
    assert ("nb is made for counts and gets presence; `values` of the learner changes that" in text) == told


@pytest.mark.parametrize(
    ("options", "message"),
    [({"workers": 0}, "workers must be"), ({"share": (3, 2)}, "share="), ({"out": None}, "")],
)
def test_wrong_arguments(data, tmp_path, options, message):
    out = tmp_path / "out"
    if "out" in options:
        (out / "rows").mkdir(parents=True)
        pl.DataFrame({"a": [1]}).write_parquet(out / "rows" / "x.parquet")
        options, message = {}, "has rows but no manifest"
    with pytest.raises(StudyError, match=message):
        run_study(data / "plan.toml", out, data=data, **options)


def disk(folder):
    """Every file and folder below a folder, with its content and time."""
    return {
        path: (path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else None)
        for path in sorted(folder.rglob("*"))
    }


def test_a_refused_run_changes_nothing(data, undisturbed, tmp_path):
    own = tmp_path / "own"
    for name in ("selections/mine.parquet", "sub/.draft.tmp", f"rows/.x{MARK}", "failed/notes.txt"):
        (own / name).parent.mkdir(parents=True, exist_ok=True)
        (own / name).write_text("mine")
    study = tmp_path / "study"
    shutil.copytree(undisturbed.path, study)
    (study / "rows" / f".x{MARK}").write_text("left over")
    damaged = tmp_path / "damaged"
    shutil.copytree(undisturbed.path, damaged)
    (damaged / "manifest.json").write_text("{}")
    other = Plan.parse(PLAN.replace("seed = 1", "seed = 2"))
    split = Plan.parse(PLAN.replace("trials = 2\nfolds = 3", 'kind = "split"'))
    before = disk(tmp_path)
    for plan, out, folder, message in (
        (data / "plan.toml", own, data, "has selections but no manifest"),
        (other, study, data, "another plan"),
        (data / "plan.toml", damaged, data, "damaged"),
        (data / "plan.toml", tmp_path / "new", tmp_path, "corpus 'mails' is not at"),
        (split, tmp_path / "new", data, "has no training and test part"),
        (data / "plan.toml", own / "sub" / ".draft.tmp", data, "is a file"),
    ):
        with pytest.raises(StudyError, match=message):
            run_study(plan, out, data=folder)
        assert disk(tmp_path) == before


def test_a_plan_that_was_changed_in_the_manifest_is_damage(undisturbed, tmp_path):
    shutil.copytree(undisturbed.path, tmp_path / "study")
    for old, new in (("seed = 1", "seed = 3"), ("[protocol]", "[protokoll]")):
        changed = undisturbed.manifest | {"plan": undisturbed.manifest["plan"].replace(old, new)}
        (tmp_path / "study" / "manifest.json").write_text(manifest_text(changed))
        with pytest.raises(StudyError, match=r"manifest\.json is damaged"):
            resume_study(tmp_path / "study")


def test_damaged_parts_are_named_and_run_again(data, undisturbed, tmp_path, small_units):
    study = tmp_path / "study"
    run_study(data / "plan.toml", study, data=data, workers=1)
    flipped, missing, cut_off = sorted(study.glob("rows/*.parquet"))[:3]
    content = bytearray(flipped.read_bytes())
    content[len(content) // 2] ^= 1
    flipped.write_bytes(content)
    missing.unlink()
    chosen = study / "selections" / cut_off.name
    if not chosen.exists():
        chosen = cut_off
    chosen.write_bytes(chosen.read_bytes()[:-20])
    (study / "vocabulary" / "mails.parquet").write_text("cut off")
    faults = Results.open(study).verify()
    assert len(faults) == 4
    with pytest.raises(StudyError, match=r"rows/.*parquet is (damaged|missing).*resume"):
        study_status(study)
    status = study_status(study, verify=True)
    assert status.faults == faults
    assert status.trainings < status.all_trainings
    assert f"  rows/{missing.name} is missing" in str(status)
    with pytest.warns(UserWarning, match="missing or damaged; it is run again") as caught:
        again = resume_study(study, data=data, workers=1)
    assert len(caught) == 3
    assert again.verify() == {}
    assert again.equals(undisturbed)


@pytest.mark.slow
def test_corpora_for_workers_lie_outside_the_results(data, undisturbed, tmp_path, monkeypatch):
    """A pickle that someone put into the results directory is never opened."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    seen = []

    def look(state):
        for path in tmp_path.glob("termsieve-*"):
            seen.append((path.stat().st_mode & 0o777, list(path.iterdir())))

    results = run_study(data / "plan.toml", tmp_path / "two", data=data, workers=2, progress=look)
    assert results.equals(undisturbed)
    assert seen
    assert all(mode == 0o700 and files for mode, files in seen)
    assert not list(tmp_path.glob("termsieve-*"))
    assert not list(results.path.rglob("*.pickle"))


def test_lines_without_a_terminal(data, tmp_path, capsys):
    run_study(data / "plan.toml", tmp_path, data=data, workers=1, progress=True)
    told = capsys.readouterr().err.strip().splitlines()
    assert len(told) == 1
    assert told[0].startswith(f"{n_rows(4)} of {n_rows(4)} trainings, ")


def test_the_quick_plan_runs(tmp_path):
    plan = load_plan("quick")
    smaller = replace(plan, sizes=(Size("k", 10.0), ALL), protocol=replace(plan.protocol, folds=2))
    results = run_study(smaller, tmp_path, workers=1)
    assert len(results) == 13 * 2 * (5 + 1)
    assert results.manifest["hash"] == smaller.hash == stored_plan(tmp_path).hash
