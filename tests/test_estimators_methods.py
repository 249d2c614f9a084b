"""Selections that learn their parameter, by name: from documents, and on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

from termsieve import Corpus, RatioSelector, WeightSelector, WFOSelector, term_matrix, train_model
from termsieve.cli.app import app
from termsieve.cli.shell import exit_code
from termsieve.errors import InputError, ParameterError
from termsieve.estimators import learned_terms
from termsieve.estimators.methods import METHODS

SELECTORS = {"ratio": RatioSelector, "wfo": WFOSelector, "weights": WeightSelector}


@pytest.fixture(scope="module")
def mail():
    generator = np.random.default_rng(3)
    words = {
        "spam": ["cheap", "pills", "buy", "offer", "free", "win"],
        "ham": ["noon", "lunch", "report", "team", "see", "you"],
    }
    labels = ["spam" if i % 3 == 0 else "ham" for i in range(45)]
    texts = [" ".join(generator.choice([*words[label], "the", "and", "of"], 6)) for label in labels]
    return Corpus(texts, labels, name="mail")


@pytest.mark.parametrize("method", METHODS)
def test_a_method_is_its_selector(mail, method):
    X, names = term_matrix(mail)
    selector = SELECTORS[method](k=4).fit(X, mail.labels)
    found = learned_terms(mail, method, k=4)
    order = names[selector.ranking_].tolist()
    assert found.frame["term"].to_list() == order
    assert set(found.terms) == set(names[selector.get_support()])
    assert found.terms == [term for term in order if term in set(found.terms)]
    assert train_model(mail, k=4, method=method).terms == found.terms
    for_spam = learned_terms(mail, method, k=4, target="spam")
    assert set(for_spam.terms) <= set(names)


def test_wrong_parameters_are_told(mail):
    with pytest.raises(ParameterError, match="method 'rato' is unknown; did you mean 'ratio'"):
        learned_terms(mail, "rato")
    with pytest.raises(ParameterError, match="sparsity= is not for the method 'wfo'"):
        learned_terms(mail, "wfo", sparsity=3.0)
    with pytest.raises(InputError, match="class 'eggs' has none or all"):
        learned_terms(mail, "wfo", target="eggs")
    with pytest.raises(ParameterError, match="not for the method 'weights'"):
        train_model(mail, method="weights", side="positive")


def test_methods_on_the_command_line(mail, tmp_path, capsys):
    path = str(tmp_path / "mail.csv")
    mail.to_frame().write_csv(path)
    for method in METHODS:
        assert exit_code(app, ["rank", path, "--method", method, "-k", "3", "--json"]) == 0
        out, err = capsys.readouterr()
        expected = learned_terms(mail, method, k=3)
        assert [row["term"] for row in json.loads(out)] == expected.frame["term"].to_list()[:3]
        assert expected.sentence in err
    assert exit_code(app, ["select", path, "--method", "weights", "--fraction", "0.2"]) == 0
    assert json.loads(capsys.readouterr().out) == learned_terms(mail, "weights", fraction=0.2).terms
    assert exit_code(app, ["rank", path, "--method", "wfo", "--side", "positive"]) == 2
    assert "leave out --side" in capsys.readouterr().err


def test_alpha_weighs_words_for_and_against(mail, tmp_path, capsys):
    path = str(tmp_path / "mail.csv")
    mail.to_frame().write_csv(path)
    directions = {}
    for alpha in ("0.9", "0.1"):
        words = ["rank", path, "--class", "spam", "--alpha", alpha, "-k", "5", "--json"]
        assert exit_code(app, words) == 0
        directions[alpha] = {row["direction"] for row in json.loads(capsys.readouterr().out)}
    assert directions == {"0.9": {1}, "0.1": {-1}}
    assert exit_code(app, ["select", path, "--alpha", "0.9", "-k", "2"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 2
