"""Five stories of a newcomer, each from the first line to the answer, in Python and on the command line."""

import json

import polars as pl
import pytest

import termsieve
from termsieve.cli.app import app
from termsieve.cli.shell import exit_code

TOPICS = {
    "invoice": ["invoice", "payment", "amount", "due"],
    "delivery": ["parcel", "courier", "address", "late"],
    "login": ["password", "account", "reset", "locked"],
}
FILLER = ["hello", "please", "help", "thank", "you", "today"]


def tickets(day=0, per_class=12):
    """Return support tickets of a day: two words of the topic in each, among words that say nothing."""
    rows = []
    for number in range(per_class):
        for topic, words in TOPICS.items():
            at = number + day
            own = [words[at % 4], words[(at + 1 + at // 4) % 4]]
            body = [FILLER[at % 6], own[0], FILLER[(at + 2) % 6], own[1]]
            rows.append({"body": " ".join(body), "queue": topic})
    return rows


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run a command line in a new folder and give what it printed."""
    monkeypatch.chdir(tmp_path)
    pl.DataFrame(tickets()).write_csv("tickets.csv")

    def call(line):
        capsys.readouterr()
        assert exit_code(app, line.split()) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    return call


def test_the_telling_words_of_a_table(run):
    """I have a CSV and want to know which words tell the queues apart."""
    assert run("show tickets.csv --label queue").startswith("36 documents, 18 words")
    printed = json.loads(run("rank tickets.csv --label queue --each --side positive -k 3 --json"))
    words = termsieve.telling_words("tickets.csv", label="queue", each=True, side="positive", k=3)
    assert words.to_dicts() == printed
    for row in printed:
        assert row["term"] in TOPICS[row["class"]]
        assert row["fp"] == 0
    # The same words from a frame in memory, for one queue.
    frame = pl.read_csv("tickets.csv")
    own = termsieve.telling_words(frame, text="body", label="queue", target="login", side="positive", k=4)
    assert set(own["term"]) == set(TOPICS["login"])


def test_a_model_trained_saved_loaded_and_used(run):
    """I want a small classifier that another machine can load without fear."""
    model = termsieve.train_model("tickets.csv", label="queue", k=12, learner="lr")
    assert set(model.terms) == {word for words in TOPICS.values() for word in words}
    model.save("model.skops")
    loaded = termsieve.load_model("model.skops")
    new = ["my password is locked", "the courier is late", "payment of the amount"]
    assert loaded.predict(new) == model.predict(new) == ["login", "delivery", "invoice"]
    # The command line trains the same model, and reads this one.
    run("select tickets.csv --label queue -k 12 --learner lr --pipeline other.skops")
    pl.DataFrame({"body": new}).write_csv("new.csv")
    assert run("predict other.skops new.csv").split() == loaded.predict(new)
    assert json.loads(run("predict model.skops new.csv --json")) == loaded.predict(new)


def test_the_counts_of_two_days_added_and_compared(run):
    """Tickets come every day; the counts are kept, not the texts."""
    days = [pl.DataFrame(tickets(day)) for day in (0, 1)]
    for number, frame in enumerate(days):
        frame.write_csv(f"day{number}.csv")
        run(f"count day{number}.csv --label queue -o day{number}.parquet")
    run("merge day0.parquet day1.parquet -o both.parquet")
    first, second = (termsieve.Counts.load(f"day{number}.parquet") for number in (0, 1))
    both = first + second
    assert both == termsieve.Counts.load("both.parquet")
    assert both - second == first
    assert both == termsieve.count(["day0.csv", "day1.csv"], label="queue")
    both.save("again.parquet")
    ranking = termsieve.rank(termsieve.score(termsieve.Counts.load("again.parquet"), "ig"))
    printed = json.loads(run("rank both.parquet -m ig -k 5 --json"))
    assert list(ranking[:5]) == [row["term"] for row in printed]
    assert ranking.head(5).to_frame().to_dicts() == printed
    found = termsieve.compare_metrics(both, ["ig", "bns", "df"], k=6)
    assert json.loads(run("compare both.parquet --metrics ig,bns,df -k 6 --json")) == found.to_dict()
    by_pair = {(row["metric"], row["other"]): row["shared"] for row in found.overlap.to_dicts()}
    assert by_pair["information_gain", "bns"] > by_pair["bns", "document_frequency"]


PLAN = """
[[corpora]]
name = "tickets"
path = "tickets.csv"
options = { text = "body", label = "queue" }
[protocol]
folds = 3
[[methods]]
metric = ["bns", "random"]
[sizes]
k = [2, 8]
all = true
[[learners]]
name = "nb"
"""


def test_a_study_planned_run_resumed_and_reported(run, tmp_path, monkeypatch):
    """I want to know which metric suits my tickets, and the run may be interrupted."""
    monkeypatch.delenv("TERMSIEVE_DATA", raising=False)  # the plan's path is meant from here
    (tmp_path / "plan.toml").write_text(PLAN)
    assert "trainings" in run("study plan plan.toml --calibrate 0")
    half = termsieve.run_study("plan.toml", "results", workers=1, share=(1, 2))
    assert 0 < len(half) < 3 * 3 * 5
    whole = termsieve.resume_study("results", workers=1)
    assert not whole.failures
    assert whole.equals(termsieve.run_study("plan.toml", "straight", workers=1))
    assert json.loads(run("study status results --json"))["finished"]
    table = termsieve.analysis.size_curves(whole.frame(size_kind="k"))
    value = {(row["method"], row["size"]): row["value"] for row in table.to_dicts()}
    assert value["bns", 8.0] > value["random", 8.0]
    termsieve.study_report(whole, "study.html")
    assert "bns" in (tmp_path / "study.html").read_text(encoding="utf-8")


def test_advice_asked_and_followed(run):
    """I do not want to choose; tell me what to use, and give me the classifier."""
    corpus = termsieve.read("tickets.csv", label="queue")
    advice = termsieve.advise(corpus, "f1")
    low, high = advice.interval()
    assert 0 <= low <= advice.figure <= high <= 1
    train, test = corpus.split(test_size=0.25, random_state=0)
    pipeline = advice.pipeline().fit(train.texts, train.labels)
    right = sum(a == b for a, b in zip(pipeline.predict(test.texts), test.labels, strict=True))
    assert right / len(test) > 0.9
    model = termsieve.Model(pipeline)
    model.save("advised.skops")
    assert termsieve.load_model("advised.skops").predict(test) == model.predict(test)
    assert str(advice.choice) in advice.explanation()
    assert "recommended" in advice._repr_html_()
    printed = json.loads(run("advise tickets.csv --label queue --json"))
    assert (printed["choice"], printed["figure"]) == (advice.to_dict()["choice"], advice.figure)
