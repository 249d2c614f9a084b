"""Fixtures that several test modules share."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import warnings
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

# Every core has a process of pytest: threads of the linear algebra would only wait for each other. Workers,
# and the commands that tests start, inherit this; it must be set before numpy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Tests start many commands: without bytecode each would compile the package again, and each worker the tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# What is collected stays: looking for garbage in it took 1.1 of 6.5 s of processor time in each worker.
gc.disable()

# Machines differ in speed: how long an example takes says nothing about the code.
settings.register_profile("termsieve", deadline=None, max_examples=60)
settings.load_profile("termsieve")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Look for doctests in the package only: the tests have none, and each file would be loaded twice."""
    collectors = yield
    return [collector for collector in collectors if not isinstance(collector, DoctestModule)]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark what needs a browser as slow: pages take seconds to make and to draw."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish():
    gc.enable()
    gc.freeze()


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of the papers' corpora, named by TERMSIEVE_DATA."""
    path = os.environ.get("TERMSIEVE_DATA")
    if not path:
        pytest.skip("TERMSIEVE_DATA is not set")
    return Path(path)


@pytest.fixture(scope="session")
def dask_cluster():
    """A Dask cluster of two worker processes on this machine, shared by all tests of one pytest process."""
    distributed = pytest.importorskip("distributed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=50
        ) as cluster:
            yield cluster


@pytest.fixture(scope="session")
def dask_client(dask_cluster):
    """A client of the shared cluster."""
    from distributed import Client

    with Client(dask_cluster, set_as_default=False) as client:
        yield client


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """A Spark session with two threads, shared by all tests of one pytest process."""
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("Spark needs java")
    from pyspark.sql import SparkSession

    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        session = (
            SparkSession.builder.master("local[2]")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.local.dir", str(tmp_path_factory.mktemp("spark")))
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


@pytest.fixture(scope="session")
def made_rows():
    """A function from short tuples (problem, trial, fold, method, size, tp, fp, fn, tn) to result rows."""
    import polars as pl

    def rows(cells, **constants):
        names = ("problem", "trial", "fold", "method", "size", "tp", "fp", "fn", "tn")
        frame = pl.DataFrame(cells, schema=list(names), orient="row")
        frame = frame.with_columns(pl.col("size").cast(pl.Float64)).with_columns(
            corpus=pl.lit("toy"),
            target=pl.col("problem"),
            learner=pl.lit("svm"),
            size_kind=pl.when(pl.col("size").is_null()).then(pl.lit("all")).otherwise(pl.lit("k")),
            n_terms=pl.col("size").fill_null(5000).cast(pl.Int64),
            n_train=pl.lit(100),
            pos=pl.lit(10),
            neg=pl.lit(90),
            be_tp=pl.col("tp"),
            be_fp=pl.col("fp"),
            be_fn=pl.col("fn"),
            sparsity=pl.col("size").fill_null(5000) / 10,
            select_seconds=pl.lit(0.0),
            fit_seconds=pl.lit(0.0),
        )
        return frame.with_columns(**{name: pl.lit(value) for name, value in constants.items()})

    return rows


@pytest.fixture(scope="session")
def study_rows():
    """Random but plausible result rows: 12 problems, 2 trials x 2 folds, 4 methods, 5 sizes and all."""
    import numpy as np
    import polars as pl

    generator = np.random.default_rng(7)
    skill = {"bns": 0.75, "information_gain": 0.72, "chi_squared": 0.68, "document_frequency": 0.5}
    rows = []
    for p in range(12):
        pos, neg = 20 + 4 * p, 120 * (p + 1)
        ease = generator.uniform(0.8, 1.2)
        for trial in range(2):
            for fold in range(2):
                for method, base in skill.items():
                    for size in (10.0, 20.0, 50.0, 100.0, 200.0, None):
                        gain = 0.06 * np.log10((size or 200.0) / 10) * (1 if method == "bns" else 0.6)
                        recall = float(np.clip(base * ease + gain - 0.1 + generator.normal(0, 0.02), 0, 1))
                        tp = round(pos / 2 * recall)
                        fp = round(pos / 2 * (1 - base) * generator.uniform(0.5, 1))
                        rows.append(
                            {
                                "corpus": "one" if p < 6 else "two",
                                "problem": f"class {p}",
                                "target": f"class {p}",
                                "trial": trial,
                                "fold": fold,
                                "method": method,
                                "learner": "svm",
                                "size_kind": "all" if size is None else "k",
                                "size": size,
                                "n_terms": 3000 if size is None else int(size),
                                "n_train": (pos + neg) // 2,
                                "pos": pos,
                                "neg": neg,
                                "tp": tp,
                                "fp": fp,
                                "fn": pos // 2 - tp,
                                "tn": neg // 2 - fp,
                                "be_tp": tp,
                                "be_fp": pos // 2 - tp,
                                "be_fn": pos // 2 - tp,
                                "sparsity": (size or 900.0) / 12,
                                "select_seconds": 0.1,
                                "fit_seconds": 0.2,
                            }
                        )
    return pl.DataFrame(rows, infer_schema_length=None)


@pytest.fixture(scope="session")
def browser():
    """A real browser, shared by all tests of one pytest process."""
    from tests.browser import ARGS, CHROMIUM, PATIENCE

    if CHROMIUM is None:
        pytest.skip("there is no chromium")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield started
        started.close()


@pytest.fixture
def opened(browser):
    """A function that opens a page and afterwards insists that it was quiet."""
    from tests.browser import Visits

    visits = Visits(browser)
    yield visits.open
    visits.close()
