"""Exported models: pipeline, Python, JavaScript and SQL decide the same; what they cannot do is an error."""

import contextlib
import copy
import json
import re
import shutil
import subprocess
import sys
from importlib import resources

import jsonschema
import numpy as np
import pytest
from benchmarks.portable import settings as adviser_settings
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, ComplementNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import LinearSVC
from tests.browser import PATIENCE

import termsieve
from termsieve import Corpus, Model, TermSelector, TermVectorizer, TermWeighter, get_learner, train_model
from termsieve.adviser.decisions import Decision
from termsieve.adviser.portfolio import Representation, Setting
from termsieve.errors import InputError, ParameterError
from termsieve.estimators.kept import KeptTerms
from termsieve.estimators.scaler import TermScaler
from termsieve.models import export, model_card
from termsieve.portable.alphabet import ranges
from termsieve.portable.scorer import Model as Plain
from termsieve.portable.scorer import ModelError, load, loads, porter_stem
from termsieve.ranking import Size

NODE = shutil.which("node")
FILES = resources.files("termsieve.portable")
# Letters whose case or kind languages disagree on, by version or by rule.
ODD = (
    "ΣσςİıIiKkÅåẞßǅǆꭰᏰᲐაΩωǰŉᾳ_0²½Ⅷⅷ①٣९\u0345\u0307\u00ad\u200d'’·:.-\u1c89\u1c8a\ua7cb\U00010d50"
    "𝒜𐐀𐐨🐘漢字ไทย\u3000\x1c\x85"
)
WORDS = [
    *("cheap", "pills", "buy", "now", "meeting", "noon", "minutes", "nation", "national", "ΟΔΟΣ", "ΣΑΣ"),
    *("naïve", "straße", "İstanbul", "x1", "a_b", "the", "of"),
]


def texts_of(seed, n):
    generator = np.random.default_rng(seed)
    models = []
    for _ in range(n):
        parts = generator.choice(WORDS, size=generator.integers(0, 15)).tolist()
        parts += ["".join(generator.choice(list(ODD), size=5)) for _ in range(generator.integers(0, 4))]
        generator.shuffle(parts)
        models.append("".join(part + generator.choice([" ", "  ", "\n", ", "]) for part in parts))
    return models


GREEK = texts_of(1, 120)
TEXTS = [re.sub("[ΣσςΟΔ]", "", text) for text in GREEK]  # a sigma among the terms keeps databases out
NEW = [*texts_of(2, 35), "", "unknown", "CHEAP PILLS", "cheap " * 40, "it's ''; DROP TABLE documents"]
THREE = [("spam", "ham", "news")[len(text) % 3] for text in TEXTS]
TWO = [len(text) % 2 for text in TEXTS]
SEVERAL = [tuple(name for name, n in (("a", 2), ("b", 3), ("c", 5)) if len(text) % n == 0) for text in TEXTS]


def advised(setting, y, decision, target=None):
    options = {"ngram_range": (1, 2)} if setting.representation.pairs else {}
    pipeline = make_pipeline(TermVectorizer(**options), setting.model(decision, target))
    return pipeline.fit(TEXTS, y)


@pytest.fixture(scope="module")
def models():
    """Models by name: what the adviser recommends, each learner that can be exported, each kind of terms."""
    models = {}
    for number, setting in enumerate(adviser_settings(30)):
        models[f"classes, {setting}"] = Model(advised(setting, THREE, Decision(tilt=0.1)))
        if number % 4 == 0:
            models[f"two, {setting}"] = Model(advised(setting, TWO, Decision((0.07,))))
            models[f"target, {setting}"] = Model(advised(setting, THREE, Decision((-0.1,)), "ham"))
            labels = advised(setting, SEVERAL, Decision((0.1, -0.1, 0.0)))
            models[f"labels, {setting}"] = Model(labels, ("a", "b", "c"))
    for learner in ("svm", "svm(balanced)", "lr", "nb", "perceptron"):
        models[f"three, {learner}"] = train_model(Corpus(TEXTS, THREE), learner=learner, k=25)
        models[f"one, {learner}"] = train_model(Corpus(TEXTS, THREE), learner=learner, k=25, target="spam")
        models[f"several, {learner}"] = train_model(Corpus(TEXTS, SEVERAL), learner=learner, k=25)
    models["hinge"] = train_model(Corpus(TEXTS, TWO), learner="svm(hinge)", k=25)
    options = [
        {},
        {"lowercase": False, "token_pattern": r"(?u)\b\w+\b"},
        {"token_pattern": r"[a-z']{3,}"},
    ]
    for each in [*options, *PYTHON_ONLY]:
        pipeline = make_pipeline(TermVectorizer(**each), TermScaler(), get_learner("svm")).fit(GREEK, THREE)
        models[f"terms, {each}"] = Model(pipeline)
    for name, steps in {
        "stop words": [TermVectorizer(stop_words="english", ngram_range=(1, 3)), get_learner("svm")],
        "scikit-learn": [TfidfVectorizer(sublinear_tf=True), LogisticRegression()],
        "weighter": [CountVectorizer(), TermWeighter("bns"), Normalizer(), LinearSVC()],
        "length of all terms": [TermVectorizer(), TermScaler(), TermSelector(k=20), get_learner("lr")],
    }.items():
        models[name] = Model(make_pipeline(*steps).fit(TEXTS, THREE))
    return models


PYTHON_ONLY = [
    {"stem": "porter"},
    {"analyzer": "char", "ngram_range": (2, 3)},
    {"analyzer": "char_wb", "ngram_range": (1, 4)},
    {"token_pattern": r"(?u)\b[a-zA-Z][a-zA-Z]+\b"},
]


@pytest.fixture(scope="module")
def expected(models):
    """What the pipelines say of the new texts: decision values and labels."""
    return {name: list(model.stream(NEW, scores=True)) for name, model in models.items()}


@pytest.fixture(scope="module")
def descriptions(models):
    return {name: json.loads(export(model)) for name, model in models.items()}


def own_values(name, predictions):
    found = np.array([each.values for each in predictions])
    return None if "nb" in name and found.shape[1] > 1 else found  # log-odds of probabilities, not linear


def same(name, predictions, values, labels, tolerance):
    own = own_values(name, predictions)
    if own is not None:
        assert np.abs(own - np.array(values)).max() < tolerance, name
    for text, each, label in zip(NEW, predictions, labels, strict=True):
        assert (list(each.label) if isinstance(each.label, tuple) else each.label) == label, (name, text)


def test_python_decides_the_same(descriptions, expected):
    for name, description in descriptions.items():
        plain = Plain(description)
        values = [plain.values(text) for text in NEW]
        same(name, expected[name], values, [plain.decided(each) for each in values], 1e-9)
    assert len(descriptions) > 50


def test_python_gives_the_same_probabilities(models, descriptions):
    for name in ("three, lr", "one, lr", "three, nb", "one, nb", "scikit-learn"):
        plain, own = Plain(descriptions[name]), models[name].pipeline.predict_proba(NEW)
        assert np.abs(np.array([plain.probabilities(text) for text in NEW]) - own).max() < 1e-9
    with pytest.raises(ModelError, match="no probabilities"):
        Plain(descriptions["three, svm"]).probabilities("cheap")


def test_calibrated_probabilities_are_the_same(page):
    source = (FILES / "scorer.js").read_text("utf-8")
    run = (
        "async ([source, model, texts]) => {\n"
        "const address = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));\n"
        "const { score } = await import(address);\n"
        "return texts.map((text) => score(model, text).probabilities);\n}"
    )
    pairs = [(2.0, 0.1), (1.5, -0.2), (3.0, 0.3)]
    for y, decision, sigmoids in (
        (THREE, Decision(tilt=0.1), pairs),
        (TWO, Decision((0.07,)), pairs[:1]),
        (SEVERAL, Decision((0.1, -0.1, 0.0)), pairs),
    ):
        setting = Setting(Representation(), "svm(C=1.0)", "bns", Size("k", 30))
        classifier = setting.model(decision).set_params(sigmoids=sigmoids)
        pipeline = make_pipeline(TermVectorizer(), classifier).fit(TEXTS, y)
        description = Model(pipeline, ("a", "b", "c") if y is SEVERAL else None).describe()
        own, plain = pipeline.predict_proba(NEW), Plain(description)
        assert np.abs(np.array([plain.probabilities(text) for text in NEW]) - own).max() < 1e-9
        assert np.abs(np.array(page.evaluate(run, [source, description, NEW])) - own).max() < 1e-9


def test_the_one_file_works_alone(tmp_path, models, expected):
    (tmp_path / "model.py").write_text(export(models["three, svm"], "python"), encoding="utf-8")
    lines = "\n".join(text.replace("\n", " ") for text in NEW)
    lines = re.sub(r"[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", " ", lines)
    command = [sys.executable, "-I", "-S", tmp_path / "model.py"]
    done = subprocess.run(command, input=lines.encode(), capture_output=True, check=True)
    said = [line.split("\t")[0] for line in done.stdout.decode().splitlines()]
    assert said == models["three, svm"].predict(lines.split("\n"))


SCRIPT = """
const found = {};
for (const [name, model] of Object.entries(models)) {
  found[name] = texts.map((text) => {
    const { class: label, values, terms } = score(model, text), quick = decide(model, text);
    const places = terms.flatMap((each) => each.places.map(([a, b]) => [each.term, text.slice(a, b)]));
    const sum = values.map((_, row) => terms.reduce((all, each) => all + each.adds[row], 0));
    return { label, values, sum, places, alike: JSON.stringify(quick.values) === JSON.stringify(values) };
  });
}
"""


def check_script(found, descriptions, expected):
    for name, predictions in expected.items():
        rows = found[name]
        same(name, predictions, [row["values"] for row in rows], [row["label"] for row in rows], 1e-9)
        assert all(row["alike"] for row in rows)
        ends = np.subtract(descriptions[name]["intercepts"], descriptions[name]["thresholds"])
        assert np.allclose([row["sum"] + ends for row in rows], [row["values"] for row in rows])
        if name.startswith("classes"):
            marked = [pair for row in rows for pair in row["places"]]
            assert marked
            assert all(" ".join(re.findall(r"\b\w\w+\b", text.lower())) == term for term, text in marked)


@pytest.mark.skipif(NODE is None, reason="there is no Node")
def test_javascript_decides_the_same_in_node(tmp_path, descriptions, expected):
    (tmp_path / "scorer.mjs").write_text((FILES / "scorer.js").read_text("utf-8"), encoding="utf-8")
    (tmp_path / "data.json").write_text(json.dumps({"models": descriptions, "texts": NEW}))
    head = 'import { readFileSync } from "node:fs";\nimport { score, decide } from "./scorer.mjs";\n'
    head += 'const { models, texts } = JSON.parse(readFileSync("data.json", "utf8"));\n'
    (tmp_path / "main.mjs").write_text(head + SCRIPT + "console.log(JSON.stringify(found));\n")
    done = subprocess.run([NODE, "main.mjs"], cwd=tmp_path, capture_output=True, check=True)
    check_script(json.loads(done.stdout), descriptions, expected)


@pytest.fixture(scope="module")
def page(browser):
    opened = browser.new_page()
    opened.set_default_timeout(PATIENCE)
    yield opened
    opened.close()


@pytest.mark.slow
def test_javascript_decides_the_same_in_a_browser(page, descriptions, expected):
    run = (
        "async ([source, models, texts]) => {\n"
        "const address = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));\n"
        "const { score, decide } = await import(address);\n" + SCRIPT + "return found;\n}"
    )
    chosen = {
        name: each for i, (name, each) in enumerate(descriptions.items()) if i % 3 == 0 or "term" in name
    }
    found = page.evaluate(run, [(FILES / "scorer.js").read_text("utf-8"), chosen, NEW])
    assert len(chosen) > 20
    check_script(found, descriptions, {name: expected[name] for name in chosen})


def test_the_page_scores_what_is_typed(page, tmp_path):
    hostile = "</script><img src=x onerror='window.broken=1'>"
    corpus = Corpus(["cheap pills", "buy pills", "see noon", "at noon"], [hostile, hostile, "ham", "ham"])
    model = train_model(corpus, k=6)
    (tmp_path / "try.html").write_text(export(model, "html"), encoding="utf-8")
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto((tmp_path / "try.html").as_uri())
    assert page.locator("#live-class").is_hidden()  # nothing is said of no text
    typed = "Cheap PILLS, <b>bold</b> noon"
    page.locator("#live-given").fill(typed)
    assert page.locator("#live-class").inner_text() == hostile
    assert page.locator("#live-text mark[data-speaks=for]").all_inner_texts() == ["Cheap", "PILLS"]
    assert page.locator("#live-text mark[data-speaks=against]").all_inner_texts() == ["noon"]
    assert page.locator("#live-text").inner_text() == typed
    shown = dict(shown_numbers(page, "terms"))
    assert shown.keys() == {"cheap", "noon", "pills", "any text"}
    own = abs(next(model.stream([typed], scores=True)).values[0])
    assert sum(shown.values()) == pytest.approx(own, abs=0.003)
    assert page.locator("#live-margin").inner_text() == f"(margin {own:.3f})"
    assert [name for name, _ in shown_numbers(page, "values")] == [hostile, "ham"]
    page.locator("#live-values button", has_text="ham").click()  # what speaks for the other class
    assert page.locator("#live-text mark[data-speaks=for]").all_inner_texts() == ["noon"]
    page.locator("#live-given").fill("noon")
    assert page.locator("#live-class").inner_text() == "ham"
    page.locator("#live-given").fill("nothing known")
    assert "None of the model's terms" in page.locator("#live-said").inner_text()
    assert page.evaluate("window.broken") is None
    assert not [address for address in requests if address.startswith("http")]


def shown_numbers(page, table):
    """The first and the last cell of each row of a table of the box."""
    rows = page.locator(f"#live-{table} tbody tr").all()
    cells = [row.locator("td").all_inner_texts() for row in rows]
    return [(each[0], float(each[-1].replace("\u2212", "-"))) for each in cells]


def test_the_page_of_several_labels_lists_them(page, tmp_path, models, expected):
    (tmp_path / "try.html").write_text(export(models["several, svm"], "html"), encoding="utf-8")
    page.goto((tmp_path / "try.html").as_uri())
    tried = [(text, each) for text, each in zip(NEW, expected["several, svm"], strict=True) if text.strip()]
    for text, prediction in tried[:6]:
        page.locator("#live-given").fill(text)
        assert page.locator("#live-class").inner_text() == (", ".join(prediction.label) or "none")
        shown = [value for _, value in shown_numbers(page, "values")]
        assert shown == pytest.approx(sorted(prediction.values, reverse=True), abs=0.001)


def test_a_database_decides_the_same(models, descriptions, expected):
    duckdb = pytest.importorskip("duckdb")
    texts = [text.replace("\0", " ") for text in NEW]
    database = duckdb.connect()
    database.execute("CREATE TABLE documents (id INTEGER, text TEXT)")
    database.executemany("INSERT INTO documents VALUES (?, ?)", list(enumerate(texts)))
    chosen = [
        name
        for number, name in enumerate(expected)
        if number % 7 == 0 or name.startswith(("stop", "scikit", "several, lr"))
    ]
    done = 0
    for name in chosen:
        lower = descriptions[name]["text"]["lowercase"]
        if any(str(options) in name for options in PYTHON_ONLY) or (lower and lower["final_sigma"]):
            with pytest.raises(InputError, match="cannot be exported; export it to python or js"):
                export(models[name], "sql")
            continue
        check_database(database, name, export(models[name], "sql"), descriptions[name], expected[name])
        done += 1
    assert done >= 10


def check_database(database, name, script, description, predictions):
    database.execute(script)
    rows = database.execute("SELECT value FROM model_values ORDER BY id, number").fetchall()
    values = np.array(rows).reshape(len(NEW), -1)
    said = [[] for _ in NEW]
    for number, label in database.execute("SELECT id, class FROM model_decisions ORDER BY class").fetchall():
        said[number].append(label)
    several = description["decision"] == "each"
    named = {str(label): label for label in description["classes"]}
    same(name, predictions, values, [each if several else named[each[0]] for each in said], 1e-6)
    views, tables = ("decisions", "values"), ("classes", "rows", "terms", "weights", "stop_words")
    database.execute("".join(f"DROP VIEW model_{each};" for each in views))
    database.execute("".join(f"DROP TABLE IF EXISTS model_{each};" for each in tables))


@settings(max_examples=80)
@given(text=st.text(st.one_of(st.characters(), st.sampled_from(ODD + " aZ")), max_size=40))
def test_any_unicode_has_the_same_terms(analysers, text):
    for vectorizer, plain in analysers:
        assert list(plain.analyse(text)) == list(vectorizer.build_analyzer()(text))


def described_terms(**options):
    vectorizer = TermVectorizer(**options)
    pipeline = make_pipeline(vectorizer, get_learner("svm")).fit(GREEK, THREE)
    return vectorizer, Plain(Model(pipeline).describe())


@pytest.fixture(scope="module")
def analysers():
    return [described_terms(**each) for each in ({"ngram_range": (1, 2)}, *PYTHON_ONLY)]


@pytest.mark.slow
def test_every_character_is_treated_as_python_does(analysers):
    points = [point for point in range(0x110000) if not 0xD800 <= point < 0xE000]
    _, plain = analysers[0]
    for start in range(0, 0x30000, 65536):  # beyond it there are only ideographs and private characters
        text = " ".join(f"x{chr(point)}Σ{chr(point)}y" for point in points[start : start + 65536])
        assert plain.analyse._words(plain.analyse._lower(text)) == re.findall(r"\b\w\w+\b", text.lower())


ENDINGS = [
    *("sses", "ies", "ss", "s", "eed", "ed", "ing", "ational", "tional", "izer", "ization", "alism", "icate"),
    *("ative", "alize", "ful", "ness", "ance", "ement", "ion", "y", "e", "ll"),
]


@settings(max_examples=200)
@given(word=st.text(st.sampled_from("aeiouybcdlnrstwxzé𝒜"), max_size=6), ending=st.sampled_from(ENDINGS))
def test_stems_are_those_of_the_stemmer(word, ending):
    import Stemmer

    assert porter_stem(word + ending) == Stemmer.Stemmer("porter").stemWord(word + ending)


def test_descriptions_follow_the_schema(descriptions):
    schema = json.loads((FILES / "schema.json").read_text("utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    for description in [*list(descriptions.values())[-5:], descriptions["three, lr"]]:
        validator.validate(description)
    assert not validator.is_valid({**descriptions["three, lr"], "more": 1})


def test_a_selected_model_holds_its_terms_only(models, descriptions):
    name = next(name for name in models if name.startswith("classes, weights k=30"))
    assert len(descriptions[name]["terms"]) == 30
    assert len(descriptions["length of all terms"]["terms"]) > 20  # the length is that of all terms


@pytest.mark.parametrize(
    ("steps", "y", "message"),
    [
        (
            [TermVectorizer(), get_learner("nb(quotient)")],
            THREE,
            "cannot be exported; choose one of nb, nb(all), lr",
        ),
        ([TermVectorizer(), get_learner("svm(hinge)")], THREE, "choose svm"),
        ([TermVectorizer(binary=True), BernoulliNB()], THREE, "BernoulliNB cannot be exported"),
        ([TermVectorizer(), ComplementNB()], THREE, "ComplementNB cannot be exported"),
        ([TermVectorizer(strip_accents="unicode"), LinearSVC()], THREE, "strip_accents='unicode' cannot be"),
        ([TermVectorizer(token_pattern=r"(?:\w\w)+"), LinearSVC()], THREE, "token pattern"),
        ([TermVectorizer(tokenizer=str.split, token_pattern=None), LinearSVC()], THREE, "tokenizer="),
        (
            [TermVectorizer(language="german"), LinearSVC()],
            THREE,
            "the stemmer 'german' cannot be exported; train without one, with stop_words=",
        ),
        ([TermVectorizer(stem="porter", lowercase=False), LinearSVC()], THREE, "train with lowercase=True"),
        ([TermVectorizer(tokenizer="characters"), LinearSVC()], THREE, "train with analyzer='char'"),
        ([TermVectorizer(normalize="nfkc"), LinearSVC()], THREE, "normalize='nfkc' cannot be exported"),
        ([TermVectorizer(), Normalizer("l1"), LinearSVC()], THREE, "use norm='l2'"),
        ([TermVectorizer(), TermScaler(), TermWeighter(), LinearSVC()], THREE, "scale them once"),
    ],
)
def test_what_cannot_be_exported_says_what_to_choose(steps, y, message):
    with pytest.raises(InputError, match=re.escape(message)):
        Model(make_pipeline(*steps).fit(TEXTS, y)).describe()


def test_unknown_targets_are_told(models):
    with pytest.raises(ParameterError, match="target 'jso' is unknown; did you mean 'json'"):
        export(models["three, svm"], "jso")
    with pytest.raises(ParameterError, match="dialect 'mysql' is unknown"):
        export(models["three, svm"], "sql", dialect="mysql")


def test_postgres_has_its_own_spelling():
    pipeline = make_pipeline(TermVectorizer(), get_learner("svm")).fit(TEXTS, THREE)
    script = export(Model(pipeline), "sql", dialect="postgres")
    assert r"\U00000030-\U00000039" in script
    assert "regexp_matches" in script


HOSTILE = {
    "no object": lambda found: [1],
    "another format": lambda found: {**found, "format": "x"},
    "a newer version": lambda found: {**found, "version": 99},
    "a version that is true": lambda found: {**found, "version": True},
    "no text": lambda found: {**found, "text": None},
    "terms that are numbers": lambda found: {**found, "terms": [1] * len(found["terms"])},
    "a term twice": lambda found: {**found, "terms": [found["terms"][0]] * len(found["terms"])},
    "a class twice": lambda found: {**found, "classes": ["a", "a", "b"]},
    "a class that is a list": lambda found: {**found, "classes": [["a"], "b", "c"]},
    "a class too few": lambda found: {**found, "classes": ["a", "b"]},
    "weights too few": lambda found: {**found, "weights": found["weights"][1:]},
    "weights of other rows": lambda found: {**found, "weights": [[1.0]] * len(found["terms"])},
    "a weight that is text": lambda found: {**found, "weights": [["1", 1, 1], *found["weights"][1:]]},
    "a weight without end": lambda found: {**found, "weights": [[1e999, 1, 1], *found["weights"][1:]]},
    "a whole weight without end": lambda found: {
        **found,
        "weights": [[10**400, 1, 1], *found["weights"][1:]],
    },
    "scales too few": lambda found: {**found, "scales": [1.0]},
    "a calibration too short": lambda found: {**found, "probability": "logistic", "calibration": [[1, 2]]},
    "a calibration of nothing": lambda found: {**found, "calibration": [[1, 2]] * 3},
    "an unknown decision": lambda found: {**found, "decision": "guess"},
    "an unknown value": lambda found: {**found, "values": []},
    "no unit_length": lambda found: {**found, "unit_length": 1},
    "softmax of two": lambda found: {**found, "probability": "softmax", "decision": "each"},
    "long n-grams": lambda found: within(found, ngrams=[1, 10**9]),
    "n-grams backwards": lambda found: within(found, ngrams=[2, 1]),
    "an unknown stemmer": lambda found: within(found, stem="evil"),
    "stop words that are a text": lambda found: within(found, stop_words="the"),
    "descending ranges": lambda found: within(found, token=token(found, characters=[9, 1])),
    "ranges beyond Unicode": lambda found: within(found, token=token(found, characters=[1, 2**40])),
    "a pattern": lambda found: within(found, token=r"(a+)+$"),
    "a long token": lambda found: within(found, token=token(found, least=10**9)),
    "half a table": lambda found: within(found, lowercase={"runs": []}),
    "a run too far": lambda found: within(
        found, lowercase={**found["text"]["lowercase"], "runs": [[65, 90, 1, 32], [200, 0x10FFFF, 1, 99]]}
    ),
}


def token(found, **changes):
    return {**found["text"]["token"], **changes}


def within(found, **changes):
    return {**found, "text": {**found["text"], **changes}}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_model_gives_one_sentence(tmp_path, descriptions, name):
    found = HOSTILE[name](copy.deepcopy(descriptions["three, svm"]))
    (tmp_path / "model.json").write_text(json.dumps(found))
    with pytest.raises(ModelError) as error:
        load(tmp_path / "model.json")
    assert re.fullmatch(r".*model\.json is no model that can be used: it[^\n]{5,150}", str(error.value))


@pytest.mark.parametrize(
    "text", ["", "{", "[" * 100_000, "NaN", '{"version": Infinity}', "1" * 5000, "\0", "\ud800"]
)
def test_what_is_no_json_gives_one_sentence(text):
    with pytest.raises(ModelError) as error:
        loads(text)
    assert "\n" not in str(error.value)


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False),
    st.text(max_size=3),
    st.lists(st.integers(-5, 10**6), max_size=4),
    st.just({}),
)


@settings(max_examples=200)
@given(data=st.data())
def test_whatever_is_changed_nothing_else_is_raised(data):
    """One value anywhere in a small model becomes another: the model is refused, or it decides."""
    found = copy.deepcopy(SMALL)
    place, key = None, None
    while place is None or (isinstance(place[key], dict | list) and place[key] and data.draw(st.booleans())):
        place = found if place is None else place[key]
        key = data.draw(st.sampled_from(list(place) if isinstance(place, dict) else range(len(place))))
    place[key] = data.draw(JUNK)
    with contextlib.suppress(ModelError):
        model = loads(json.dumps(found))
        model.decide("Cheap pills, NOW İΣ")
        model.explain("Cheap pills")


def small_model():
    vectorizer = TermVectorizer(token_pattern=r"\b[a-z]+\b", ngram_range=(1, 2), stop_words=["the"])
    pipeline = make_pipeline(vectorizer, TermScaler(), get_learner("svm"))
    description = Model(pipeline.fit(["cheap pills", "see you", "at noon"], ["a", "b", "c"])).describe()
    description["text"]["lowercase"]["runs"] = description["text"]["lowercase"]["runs"][:3]
    description["text"]["token"]["word"] = description["text"]["token"]["word"][:8]
    return description


SMALL = small_model()


@pytest.mark.skipif(NODE is None, reason="there is no Node")
def test_javascript_refuses_what_python_refuses(tmp_path, descriptions):
    hostile = {name: change(copy.deepcopy(descriptions["three, svm"])) for name, change in HOSTILE.items()}
    (tmp_path / "scorer.mjs").write_text((FILES / "scorer.js").read_text("utf-8"), encoding="utf-8")
    (tmp_path / "data.json").write_text(json.dumps(hostile).replace("Infinity", "1e999"))
    (tmp_path / "main.mjs").write_text("""
import { readFileSync } from "node:fs";
import { check, score } from "./scorer.mjs";
for (const [name, model] of Object.entries(JSON.parse(readFileSync("data.json", "utf8")))) {
  try { check(model); console.log(name); } catch (error) { if (!(error instanceof Error)) console.log(name); }
}
""")
    done = subprocess.run([NODE, "main.mjs"], cwd=tmp_path, capture_output=True, check=True, text=True)
    assert done.stdout == ""


WILD = [
    None,
    True,
    -1,
    0,
    0.5,
    2**31,
    2**64,
    1e308,
    "",
    "a",
    "\ud800",
    [],
    {},
    [[]],
    [None],
    [1, "a"],
    [0, 0],
]


@pytest.mark.skipif(NODE is None, reason="there is no Node")
def test_javascript_takes_what_python_takes(tmp_path, descriptions):
    """Models with one value changed: both refuse it, or both decide the same."""
    generator, changed, told = np.random.default_rng(0), [], []
    for number in range(400):
        found = copy.deepcopy(SMALL)
        places = list(_places(found, 0 if number % 2 else 99))
        container, key = places[generator.integers(len(places))]
        container[key] = WILD[generator.integers(len(WILD))]
        changed.append(found)
        try:
            told.append(Plain(json.loads(json.dumps(found))).decide("Cheap pills, NOW at noon"))
        except ModelError:
            told.append(None)
    (tmp_path / "scorer.mjs").write_text((FILES / "scorer.js").read_text("utf-8"), encoding="utf-8")
    (tmp_path / "data.json").write_text(json.dumps(changed))
    (tmp_path / "main.mjs").write_text("""
import { readFileSync } from "node:fs";
import { score } from "./scorer.mjs";
const said = JSON.parse(readFileSync("data.json", "utf8")).map((model) => {
  try { return score(model, "Cheap pills, NOW at noon").class; }
  catch (error) { if (error.constructor !== Error) throw error; return null; }
});
console.log(JSON.stringify(said));
""")
    done = subprocess.run([NODE, "main.mjs"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert [(i, a, b) for i, (a, b) in enumerate(zip(told, said, strict=True)) if a != b] == []
    assert 40 < sum(each is None for each in told) < 380


def _places(value, deep):
    """Where a value may be changed: everywhere, or at the top only."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield value, key
        if deep:
            yield from _places(inner, deep - 1)


def test_the_card_says_what_was_measured():
    corpus = Corpus(
        ["buy *cheap* <b>|pills|", "buy now", "see you", "see me"] * 10, ["spam", "spam", "a|b", "a|b"] * 10
    )
    model = train_model(corpus, k=4, folds=2)
    card = model_card(model)
    assert model.record.fingerprint in card
    assert f"{model.record.measured.figure:.3f}" in card
    assert "| a\\|b | 20 | 50.0% |" in card
    assert re.search(r"\| spam \| .*buy.* \| .*see.* \|", card)
    assert "Fewer than 30 documents" in card
    empty = model.predict([""])[0].replace("|", "\\|")
    assert f"such as one in another language, gets {empty}." in card
    assert "without a record" in model_card(Model(model.pipeline))


def test_what_the_card_calls_trains_the_model_again():
    corpus = Corpus(TEXTS, THREE)
    model = train_model(corpus, "bns", "lr", k=7, stop_words=["the"], combine="mean", drop=["of"], folds=2)
    call = model.record.call
    assert f"`{call}`" in model_card(model)
    again = eval(call, {"termsieve": termsieve, "corpus": corpus})
    assert (again.terms, again.record) == (model.terms, model.record)
    assert np.array_equal(again.pipeline[-1].coef_, model.pipeline[-1].coef_)


def test_the_card_names_the_classes_that_are_mistaken(models):
    model = train_model(Corpus(TEXTS, THREE), k=5, folds=3)
    table = np.array(model.record.measured.table)
    most = (table * (1 - np.eye(3, dtype=int))).max()
    assert re.search(rf"Mistaken most often: \w+ for \w+ \({most} of \d+\)", model_card(model))
    assert "any number of 3 labels, or none: a, b, c" in model_card(models["several, svm"])
    assert "a sequence of 2 to 3 characters" in model_card(models[f"terms, {PYTHON_ONLY[1]}"])


def test_ranges_are_pairs():
    assert ranges(np.array([False, True, True, False, True])) == [1, 2, 4, 4]


def test_a_selector_that_keeps_columns_is_followed():
    pipeline = make_pipeline(TermVectorizer(), KeptTerms(TermSelector(k=5)), get_learner("svm")).fit(
        TEXTS, THREE
    )
    description = Model(pipeline).describe()
    assert description["terms"] == [str(term) for term in pipeline[:-1].get_feature_names_out()]
