"""The package's own names: one closed list, the same for Python, type checkers and `help()`."""

import ast
import importlib
import inspect
import pkgutil
import pydoc
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.releases import before

import termsieve

PACKAGE = Path(termsieve.__file__).parent
REGISTRIES = {"METRICS", "LEARNERS"}
NAMES = [name for name in termsieve.__all__ if name != "__version__"]


def stub_imports():
    """Yield (module, name) of every import in the stub; each must be an explicit re-export."""
    for node in ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                assert alias.asname == alias.name, f"{alias.name} is no re-export"
                yield node.module, alias.name


def test_type_checkers_know_the_names_that_python_knows():
    stub = list(stub_imports())
    assert sorted(stub) == sorted(set(stub))
    names = {(f"termsieve.{home}", name) for name, home in termsieve._HOME.items()}
    assert {entry for entry in stub if entry[0] != "termsieve"} == names
    assert {name for module, name in stub if module == "termsieve"} == set(termsieve._SUBMODULES)


def test_the_submodules_are_those_in_the_folder():
    found = {module.name for module in pkgutil.iter_modules([str(PACKAGE)])} - {"__main__"}
    assert set(termsieve._SUBMODULES) == found


def test_dir_lists_names_and_submodules():
    assert set(dir(termsieve)) == {*termsieve.__all__, *termsieve._SUBMODULES}
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = termsieve.nothing


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_public_in_its_home(name):
    home = importlib.import_module(f"termsieve.{termsieve._HOME[name]}")
    assert getattr(termsieve, name) is getattr(home, name)
    assert name in getattr(home, "__all__", dir(home))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in REGISTRIES])
def test_help_shows_a_signature_and_a_docstring(name):
    thing = getattr(termsieve, name)
    assert inspect.getdoc(thing)
    assert thing.__doc__, f"{name} has only an inherited docstring"
    page = pydoc.plain(pydoc.render_doc(thing))
    assert f"{name}(" in page
    if not issubclass(thing if inspect.isclass(thing) else object, Exception):  # theirs is Python's own
        # Python 3.13 has a line per parameter, after the bar at the left of a class's page.
        signature, shown = (
            "".join(text.replace("|", "").split()) for text in (f"{name}{inspect.signature(thing)}", page)
        )
        assert signature[:60] in shown
    assert thing.__doc__.strip().splitlines()[0].strip() in page


def packages():
    return ["termsieve", *(f"termsieve.{m.name}" for m in pkgutil.iter_modules([str(PACKAGE)]) if m.ispkg)]


@pytest.mark.parametrize("package", packages())
def test_no_public_name_shares_the_name_of_a_module(package):
    loaded = importlib.import_module(package)
    modules = {module.name for module in pkgutil.iter_modules(loaded.__path__)}
    assert not modules & set(getattr(loaded, "__all__", ()))


def test_the_import_is_light_and_submodules_load_when_used():
    code = """
import sys
before = set(sys.modules)  # a tool that watches the process may have loaded some
import termsieve
heavy = {"numpy", "scipy", "sklearn", "polars", "altair", "typing"} & (set(sys.modules) - before)
assert not heavy, heavy
assert "termsieve.charts" not in sys.modules
assert termsieve.charts.roc_map and "altair" in sys.modules
assert "sklearn" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_package_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "termsieve", "--version"], capture_output=True, text=True)
    assert done.stdout == f"termsieve {termsieve.__version__}\n"


SCRIPT = """
import termsieve
from termsieve import Corpus, Counts, advise, cut, load_model, load_plan
from termsieve import rank, read, run_study, score, train_model

corpus = Corpus(["buy cheap", "buy now", "see you"], ["spam", "spam", "ham"])
reveal_type(corpus)  # Corpus
reveal_type(corpus.texts)  # tuple[str, ...] | None
reveal_type(read("mail.csv", text="body"))  # Corpus
counts = termsieve.count(corpus)
reveal_type(counts + Counts.load("counts.parquet"))  # Counts
reveal_type(counts.pos)  # ndarray[signedinteger]
reveal_type(counts["spam"])  # Counts
scores = score(counts, "bns")
reveal_type(scores.values)  # ndarray[float64]
ranking = rank(scores, side="positive")
reveal_type(ranking[:10])  # Ranking
reveal_type(ranking[0])  # str
reveal_type(ranking.head(10).to_frame())  # DataFrame
reveal_type(cut(ranking, k=2))  # ndarray[signedinteger]
reveal_type(termsieve.telling_words(corpus, target="spam", k=5))  # DataFrame
reveal_type(termsieve.compare_metrics(corpus, ["bns", "ig"]).overlap)  # DataFrame
reveal_type(termsieve.class_summary(counts))  # DataFrame
reveal_type(termsieve.METRICS["bns"].label)  # str
reveal_type(termsieve.get_learner("svm").fit([[1], [0]], ["a", "b"]))  # ClassifierLike
reveal_type(termsieve.LEARNERS["svm"].formula)  # str
reveal_type(termsieve.TermSelector("bns", k=3).fit([[1], [0]], ["a", "b"]))  # TermSelector
model = train_model(corpus, learner="lr")
reveal_type(model.predict(["cheap"]))  # list[str | int | float | tuple[str | int | float, ...]]
reveal_type(load_model("model.skops"))  # Model
advice = advise(corpus, "f1")
reveal_type(advice.interval())  # tuple[float, float]
results = run_study(load_plan("quick"), "results")
reveal_type(results.frame())  # LazyFrame
reveal_type(termsieve.corpus_report(counts))  # str
reveal_type(termsieve.charts.save)  # def
"""
# Libraries whose types the script does not show; leaving them out makes the check three times as fast.
SKIPPED = "altair.*,rich.*,typer.*,jinja2.*,pandas.*,sklearn.*,scipy.*,dask.*,distributed.*,pyspark.*"
CONFIG = f"""
[mypy]
strict = True
follow_imports = silent
[mypy-{SKIPPED}]
follow_imports = skip
ignore_missing_imports = True
"""


@pytest.mark.slow
@pytest.mark.skipif(before("numpy", 2, 3), reason="the types of NumPy had other names")
def test_a_users_script_sees_real_types(tmp_path):
    """`mypy --strict` finds no fault in a user's script, and nothing in it is Any."""
    pytest.importorskip("mypy")
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "mypy.ini").write_text(CONFIG)
    words = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "--cache-dir", "cache", "script.py"]
    env = {"MYPYPATH": str(PACKAGE.parent), "PATH": ""}
    done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert "Success: no issues found" in done.stdout, done.stdout + done.stderr
    revealed = dict(re.findall(r'script\.py:(\d+): note: Revealed type is "(.*)"', done.stdout))
    lines = SCRIPT.splitlines()
    expected = {str(i): line.split("  # ")[1] for i, line in enumerate(lines, 1) if "reveal_type(" in line}
    assert set(revealed) == set(expected)
    for number, kind in expected.items():
        # numpy says of every array that its shape may be any; names are shown without their modules.
        shown = revealed[number].replace("numpy.ndarray[tuple[Any, ...], ", "numpy.ndarray[")
        assert "Any" not in shown or kind == "def", f"{lines[int(number) - 1]} is {shown}"
        short = re.sub(r"\b\w+\.", "", shown)
        short = re.sub(r"ndarray\[dtype\[(\w+).*", r"ndarray[\1]", short)
        assert short == kind or (kind == "def" and short.startswith("def ")), f"{kind} is {short}"
