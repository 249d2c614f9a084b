"""The registry of engines, and what every engine has in common."""

import subprocess
import sys

import pytest

from termsieve import Counts, count
from termsieve.counts.stream import tally_of
from termsieve.engines import ENGINES, Engine, get_engine
from termsieve.errors import ParameterError, UnknownNameError

DOCUMENTS = [(["cheap pills", "see you"], ["spam", "ham"]), (["cheap watches"], ["spam"])]


class OneWorker:
    """An engine as somebody else would write it."""

    def tally(self, job):
        return tally_of(job.opened(), job.analysis, job.occurrences, job.max_terms)


def test_an_engine_of_ones_own_gives_the_counts_of_the_threads():
    want = count(DOCUMENTS, occurrences=True, ngram_range=(1, 2))
    assert count(DOCUMENTS, engine=OneWorker(), occurrences=True, ngram_range=(1, 2)) == want
    assert isinstance(want, Counts)


def test_an_engine_of_ones_own_can_be_registered(monkeypatch):
    monkeypatch.setitem(ENGINES, "mine", f"{__name__}:OneWorker")
    assert count(DOCUMENTS, engine="mine") == count(DOCUMENTS)


@pytest.mark.parametrize("name", ENGINES)
def test_every_registered_engine_keeps_the_protocol(name):
    assert isinstance(get_engine(name), Engine)


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"engine": "ray"}, UnknownNameError, "engine 'ray' is unknown; known: threads, dask, spark"),
        ({"engine": "dsk"}, UnknownNameError, "did you mean 'dask'"),
        ({"engine": 3}, ParameterError, "must be one of threads, dask, spark"),
        (
            {"address": "tcp://127.0.0.1:1"},
            ParameterError,
            "'threads' takes no 'address'; its own options are",
        ),
        ({"engine": "dask", "workers": 2}, ParameterError, "'dask' takes no 'workers'; .* are address"),
        ({"engine": "spark", "workers": 2}, ParameterError, "'spark' takes no 'workers'; it has no options"),
        (
            {"engine": OneWorker(), "workers": 2},
            ParameterError,
            "'workers' can be given only with the name",
        ),
    ],
)
def test_unusable_engines_and_options_are_named_errors(options, error, sentence):
    with pytest.raises(error, match=sentence):
        count(DOCUMENTS, **options)


def test_no_engine_is_imported_before_it_is_asked_for():
    code = """
import sys
from termsieve import count
count([(["aa"], ["x"])])
assert not {"dask", "distributed", "pyspark", "termsieve.engines.dask"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


NONSENSE = ["nonsense", "tcp://127.0.0.1:99999", "foo://127.0.0.1:1", ""]
ASK = """
import sys
from termsieve import count
from termsieve.errors import TermsieveError
for address in sys.argv[2:]:
    try:
        count(sys.argv[1], "text", "label", engine="dask", address=address)
    except TermsieveError as error:
        print(error)
"""


def test_an_address_that_is_none_is_refused_without_a_second_complaint(tmp_path):
    pytest.importorskip("distributed")
    (tmp_path / "x.csv").write_text("text,label\naa,x\n")
    words = [sys.executable, "-c", ASK, str(tmp_path / "x.csv"), *NONSENSE]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == "".join(
        f"{address!r} is not the address of a Dask scheduler, which looks like tcp://127.0.0.1:8786\n"
        for address in NONSENSE
    )
    assert done.stderr == ""
