"""The explorer in a notebook: a real kernel runs the cells, and a real browser looks at what they show."""

import pytest
from tests.browser import CHROMIUM

from termsieve import explore

CELL = """
import polars, termsieve
texts = ["the goal was late", "a goal in the match", "the market fell", "shares of the bank fell"] * 5
frame = polars.DataFrame({"body": texts, "kind": ["sport", "sport", "money", "money"] * 5})
report = termsieve.explore(frame, text="body", label="kind", metrics=["bns"], sizes=(5,))
report.show()
"""


def test_a_frame_is_explored_and_saved(tmp_path):
    import polars as pl

    frame = pl.DataFrame({"body": ["buy now", "see you", "buy it"], "kind": ["spam", "ham", "spam"]})
    report = explore(frame, text="body", label="kind", metrics=["bns"], sizes=(1,))
    report.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == report.html
    assert 'sandbox="allow-scripts allow-downloads"' in report._repr_html_()
    assert "<script>" not in report._repr_html_()


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium")
@pytest.mark.filterwarnings("ignore")  # of the kernel's own packages
def test_a_notebook_shows_the_explorer_without_network(opened, tmp_path):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    nbclient.NotebookClient(notebook, timeout=600).execute()
    (output,) = [each for each in notebook.cells[0].outputs if each.output_type == "display_data"]
    page = f"<!DOCTYPE html><title>notebook</title>{output.data['text/html']}"
    (tmp_path / "notebook.html").write_text(page, encoding="utf-8")
    view = opened((tmp_path / "notebook.html").as_uri(), ready="iframe")
    frame = view.frame_locator("iframe")
    frame.locator("body[data-drawn]").wait_for()
    frame.get_by_role("searchbox", name="Find a word").fill("goal")
    frame.locator("#hits [role=option]").first.click()
    frame.get_by_role("region", name="goal").wait_for()
    assert frame.locator("#word article mark").first.inner_text() == "goal"
