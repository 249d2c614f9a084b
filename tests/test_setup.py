"""The build: absolute links of the README, the SBOM, and a sentence where there is no compiler."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def script():
    pytest.importorskip("setuptools.command.bdist_wheel")
    spec = importlib.util.spec_from_file_location("setup_script", ROOT / "setup.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_readme_of_a_package_has_absolute_links_only(script):
    text = script.absolute((ROOT / "README.md").read_text(encoding="utf-8"))
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    assert links
    assert all(link.startswith("https://") for link in links)
    urls = script.PROJECT["urls"]
    assert f"{urls['Documentation']}/tutorial.html" in links
    pictures = [link for link in links if link.endswith((".svg", ".png", ".jpg"))]
    assert pictures
    assert all(link.startswith(f"{urls['Documentation']}/_images/") for link in pictures)
    assert f"{urls['Repository']}/blob/v{script.PROJECT['version']}/CITATION.cff" in links


def test_code_and_absolute_links_stay_as_they_are(script):
    text = "[a](https://x.org/b) [c](#here)\n```\n[a](docs/a.md)\n```\n"
    assert script.absolute(text) == text
    assert script.absolute("[a](docs/a-b.md#c)").endswith("/a-b.html#c)")


def test_the_sbom_names_what_is_compiled_in(script):
    document = json.loads(script.sbom())
    assert document["bomFormat"] == "CycloneDX"
    assert document["metadata"]["component"]["version"] == script.PROJECT["version"]
    assert {part["name"] for part in document["components"]} == {"cython", "numpy"}
    assert script.sbom() == script.sbom()


@pytest.mark.skipif(sys.platform == "win32", reason="setuptools looks for Visual C++ itself there")
def test_without_a_compiler_the_error_is_a_sentence(script, tmp_path):
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    kernel = tmp_path / "src" / "termsieve" / "kernels" / "tiny.pyx"
    kernel.parent.mkdir(parents=True)
    kernel.write_text("x = 1\n")
    words = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    env = {**os.environ, "CC": "no-such-compiler", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 1
    assert "the C compiler 'no-such-compiler' was not found; install one" in done.stderr
    assert not list(kernel.parent.glob("*.c"))  # it is told before the seconds of translating


def test_the_conda_recipe_asks_for_what_pyproject_asks_for(script):
    recipe = (ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8")
    assert f'version: "{script.PROJECT["version"]}"' in recipe
    run = re.findall(r"^    - (\S+ >=\S+)$", recipe.partition("\n  run:\n")[2], re.MULTILINE)
    wanted = [line.partition(";")[0].strip().lower() for line in script.PROJECT["dependencies"]]
    wanted.append("python" + script.PROJECT["requires-python"])
    assert sorted(line.replace(" ", "") for line in run) == sorted(wanted)


def test_addresses_outside_of_pyproject_are_the_same(script):
    urls = script.PROJECT["urls"]
    recipe = (ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8")
    for name in ("Repository", "Documentation"):
        assert f"  {name.lower()}: {urls[name]}\n" in recipe
    forms = ROOT / ".github" / "ISSUE_TEMPLATE" / "config.yml"
    if forms.exists():  # not in the source archive
        found = re.findall(r"url: (\S+)", forms.read_text(encoding="utf-8"))
        assert found == [f"{urls['Repository']}/security/policy"]
