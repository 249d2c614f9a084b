"""The walk-throughs of docs/contributing.md: applied to a copy of the source, what they add really works."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## Add an? (.*?)\n(.*?)(?=^## )", PAGE, re.MULTILINE | re.DOTALL))
STEP = re.compile(
    r"^(New file|At the end of|In) `([\w/.]+)`:\n\n```(?:python|diff)\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
EXAMPLE = re.compile(r"^```python\n(>>> .*?)^```$", re.MULTILINE | re.DOTALL)
RUNNER = """
import doctest, json, sys
import termsieve

if __name__ == "__main__":
    found = {"home": termsieve.__file__}
    for name, text in json.load(sys.stdin).items():
        test = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
        said = []
        doctest.DocTestRunner(verbose=False).run(test, out=said.append)
        found[name] = "".join(said)
    json.dump(found, sys.stdout)
"""


def applied(kind, body, old):
    """Return the content of a file after one step of a walk-through."""
    if kind == "New file":
        assert old is None
        return body
    if kind == "At the end of":
        return f"{old}\n\n{body}"
    for hunk in body.split("@@\n"):
        lines = hunk.splitlines()
        before = "\n".join(line[1:] for line in lines if not line.startswith("+"))
        after = "\n".join(line[1:] for line in lines if not line.startswith("-"))
        assert old.count(before) == 1, f"the page shows as context what is not there once: {before}"
        old = old.replace(before, after)
    return old


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What the examples of each section said in a copy of the source to which all steps were applied."""
    copy = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    (copy / "docs").mkdir()
    for page in ROOT.glob("docs/*.md"):
        shutil.copy(page, copy / "docs")
    for text in SECTIONS.values():
        for kind, path, body in STEP.findall(text):
            file = copy / path
            old = file.read_text(encoding="utf-8") if file.exists() else None
            file.write_text(applied(kind, body, old), encoding="utf-8")
    (copy / "runner.py").write_text(RUNNER)
    examples = {name: "".join(EXAMPLE.findall(text)) for name, text in SECTIONS.items()}
    answer = subprocess.run(
        [sys.executable, "-W", "error", "runner.py"],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy / "src")},
        input=json.dumps(examples),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert answer.returncode == 0, answer.stderr
    results = json.loads(answer.stdout)
    assert Path(results["home"]).is_relative_to(copy)
    return results


@pytest.mark.parametrize("name", ["metric", "file format", "learner", "chart", "engine"])
def test_what_a_walk_through_adds_works(name, found):
    steps = STEP.findall(SECTIONS[name])
    assert 1 <= len({path for _, path, _ in steps}) <= 3
    examples = EXAMPLE.findall(SECTIONS[name])
    assert len(examples) == 1
    blocks = re.findall(r"^```\w+$", SECTIONS[name], re.MULTILINE)
    assert len(blocks) == len(steps) + len(examples), "a block is neither a step nor an example"
    assert found[name] == ""


def test_a_metric_takes_ten_lines():
    ((_, _, body),) = STEP.findall(SECTIONS["metric"])
    assert "@register_metric" in body
    assert len([line for line in body.splitlines() if line.strip()]) <= 10
