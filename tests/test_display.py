"""Numbers that read well, and the HTML tables that objects show in a notebook."""

from html.parser import HTMLParser

import pytest

from termsieve import Corpus, Counts, compare_metrics, count, load_plan, rank, run_study, score
from termsieve.display import SHOWN_ROWS, html_table, plain_text, readable


class Cells(HTMLParser):
    """The texts of a table, row by row, and every tag and attribute."""

    def __init__(self, page):
        super().__init__()
        self.rows, self.tags, self.styles, self._open = [], set(), [], False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.styles += [value for name, value in attrs if name == "style"]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self._open = True

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self._open = False

    def handle_data(self, data):
        if self._open:
            self.rows[-1][-1] += data


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1_234_567, "1,234,567"),
        (0.000123456, "0.0001235"),
        (-98765.4, "-98,765"),
        (None, ""),
        (False, "no"),
        (("a", 1), "a, 1"),
        ("<b>", "<b>"),
    ],
)
def test_values_read_well(value, text):
    assert readable(value) == text


def test_shares_are_percentages_and_numbers_stand_to_the_right():
    page = html_table([{"class": "spam", "documents": 12345, "share": 0.256}], "Mail", shares=("share",))
    cells = Cells(page)
    assert cells.rows == [["class", "documents", "share"], ["spam", "12,345", "25.6%"]]
    assert [("right" in style) for style in cells.styles if "text-align" in style] == [False, True, True] * 2
    assert "Mail" in page


def test_every_text_is_escaped_and_no_colour_is_fixed():
    page = html_table([{"<i>": "<script>alert(1)</script>", "x": '"&'}], "<title>")
    assert Cells(page).tags <= {"div", "strong", "table", "thead", "tbody", "tr", "th", "td"}
    assert Cells(page).rows == [["<i>", "x"], ["<script>alert(1)</script>", '"&']]
    assert "color:#" not in page
    assert all("color:inherit" in style for style in Cells(page).styles)
    assert "<title>" not in page


def test_long_tables_and_long_texts_are_cut():
    page = html_table([{"term": "x" * 500, "n": i} for i in range(25)])
    cells = Cells(page)
    assert len(cells.rows) == 1 + SHOWN_ROWS
    assert "and 15 more" in page
    assert max(len(cell) for row in cells.rows for cell in row) < 100
    assert "and 990 more" in html_table([{"n": i} for i in range(10)], total=1000)


def test_lone_surrogates_are_replaced():
    assert plain_text("\ud800x") == "?x"
    html_table([{"term": "\ud800x"}]).encode("utf-8")


@pytest.fixture(scope="module")
def corpus():
    texts = ["<b> cheap pills", "cheap watches now", "see you now", "see the meeting"] * 3
    return Corpus(texts, ["<spam>", "<spam>", "ham", "ham"] * 3, name="mail & more")


def test_corpus_and_counts_show_their_classes(corpus):
    for shown in (corpus, count(corpus)):
        rows = Cells(shown._repr_html_()).rows
        assert rows[0][:3] == ["class", "documents", "share"]
        assert ["<spam>", "6", "50.0%"] in [row[:3] for row in rows]
        assert "<spam>" not in shown._repr_html_()
    many = Counts.from_matrix([[1]] * 40, [f"c{i}" for i in range(40)])
    assert "and 30 more" in many._repr_html_()


def test_scores_and_rankings_show_their_best_terms(corpus):
    scores = score(count(corpus), "bns")
    rows = {row[0]: row for row in Cells(scores._repr_html_()).rows}
    assert rows["<spam>"][3].startswith("cheap")
    ranking = rank(scores)
    rows = Cells(ranking._repr_html_()).rows
    assert [row[1] for row in rows[1:]] == list(ranking.head(10))
    assert rows[0] == ranking.to_frame().columns


def test_a_comparison_shows_shares(corpus):
    assert "%" in compare_metrics(corpus, ["bns", "df"], k=3)._repr_html_()


def test_plans_and_results_show_what_they_hold(tmp_path, corpus):
    plan = load_plan("quick")
    assert ["learners", "svm"] in Cells(plan._repr_html_()).rows
    text = (
        '[[corpora]]\nname = "mail"\n[protocol]\nfolds = 2\n[[methods]]\nmetric = ["bns"]\n[sizes]\nk = [2]\n'
    )
    text += '[[learners]]\nname = "svm"\n'
    (tmp_path / "tiny.toml").write_text(text)
    results = run_study(tmp_path / "tiny.toml", tmp_path / "out", corpora={"mail": corpus}, workers=1)
    rows = dict(Cells(results._repr_html_()).rows[1:])
    assert rows["rows"] == str(len(results))
    assert rows["failed units"] == "0"
