"""The .review files of the multi-domain sentiment data."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from termsieve import read
from termsieve.errors import FormatError, InputError, ParameterError, TermsieveError
from termsieve.readers.reviews import read_reviews


def review(title="Fine", text="A film & more"):
    parts = {"rating": "5.0", "title": title, "review_text": text}
    inner = "".join(f"<{name}>\n{value}\n</{name}>\n" for name, value in parts.items())
    return f"<review>\n{inner}</review>\n"


def make(root, **files):
    for name, content in files.items():
        (root / f"{name}.review").write_bytes(content.encode("latin-1"))
    return root


def test_reviews(tmp_path):
    make(
        tmp_path,
        positive="<reviews>\n" + review() + review("caf\xe9 &quot;x&quot;", "1 < 2 <br />\x00 & so"),
        negative=review("Bad", ""),
        unlabeled=review("?"),
        all=review("all"),
    )
    corpus = read(tmp_path, name="dvd")
    assert corpus.texts == ("Bad\n", "Fine\nA film & more", 'café "x"\n1 < 2 <br />  & so')
    assert corpus.labels.tolist() == ["negative", "positive", "positive"]
    assert corpus.source == "reviews (fields=title+review_text)"
    assert read(tmp_path, fields="title").texts[0] == "Bad"
    assert read(tmp_path, fields=["rating", "title"]).texts[0] == "5.0\nBad"


def test_one_file(tmp_path):
    make(tmp_path, positive=review())
    assert read(tmp_path / "positive.review").labels.tolist() == ["positive"]
    (tmp_path / "positive.review").rename(tmp_path / "data")
    assert read(tmp_path / "data").labels.tolist() == ["data"]


def test_refusals(tmp_path):
    make(tmp_path, positive=review() + review()[:-12])
    with pytest.raises(FormatError, match=r"positive\.review, line 12: a <review> is not closed"):
        read(tmp_path)
    with pytest.raises(InputError, match="line 1: the review has no stars"):
        read(make(tmp_path, positive=review()), fields="stars")
    with pytest.raises(ParameterError, match="must name parts of a review"):
        read(tmp_path, fields=[])
    with pytest.raises(ParameterError, match="must name parts of a review"):
        read(tmp_path, fields="(a|b")
    with pytest.raises(FormatError, match="holds no <review>"):
        read(make(tmp_path, positive=""))
    (tmp_path / "positive.review").rename(tmp_path / "unlabeled.review")
    with pytest.raises(FormatError, match="holds no labelled"):
        read(tmp_path)


@settings(deadline=None)
@given(content=st.binary(max_size=100), inner=st.binary(max_size=100))
def test_any_bytes_give_a_corpus_or_a_clear_error(tmp_path_factory, content, inner):
    path = tmp_path_factory.getbasetemp() / "fuzz.review"
    path.write_bytes(content + b"<review><title>" + inner + b"</review>")
    with suppress(TermsieveError):
        assert len(read_reviews(path)) > 0


@pytest.mark.corpora
def test_dvd_reviews(data_dir):
    corpus = read(data_dir / "dvd_reviews")
    assert corpus.class_sizes == {"negative": 1000, "positive": 1000}
    assert corpus.texts[1000].startswith(
        "Skip Color, Go Directly To The Black-And-White\nI'm not sure why Sony"
    )
    assert all(corpus.texts)
