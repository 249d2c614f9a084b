"""Plans: every fault at once with its line, a canonical form that parses back, the built-in ones."""

from dataclasses import replace

import pytest

from termsieve.errors import StudyError
from termsieve.ranking import ALL, Size
from termsieve.studies.plan import PLANS, Plan, load_plan

SMALL = """
[[corpora]]
name = "posts"
path = "posts.csv"

[[methods]]
metric = ["bns", "ig"]

[sizes]
k = [5, 2]
all = true

[[learners]]
name = "svm"
"""

FAULTY = """
abuot = "a plan with mistakes"
corpora = [
  { name = "a", path = "a.csv" },
  { name = "b", fromat = "arff" },
]

[protocol]
kind = "kfold"
folds = 1

[[methods]]
metric = "bnz"

[[methods]]
metric = ["bns", "chi"]
alpha = 2

[sizes]
k = [10, 0]

[[learners]]
name = "svmm"
"""


def faults(text):
    with pytest.raises(StudyError) as caught:
        Plan.parse(text, "mine")
    return str(caught.value).splitlines()


def test_all_faults_are_reported_at_once_with_line_and_suggestion():
    head, *lines = faults(FAULTY)
    assert head == "the plan 'mine' has 7 faults:"
    starts = [line.split(":")[0].strip() for line in lines]
    assert starts == ["line 2", "line 5", "line 10", "line 13", "line 17", "line 20", "line 23"]
    for line, part in zip(
        lines,
        (
            "did you mean 'about'?",
            "did you mean 'format'?",
            "[protocol] folds must be a whole number of at least 2, not 1",
            "did you mean 'bns'?",
            "alpha must lie between 0 and 1, not 2",
            "[sizes] k must be a whole number of at least 1, not 0",
            "did you mean 'svm'?",
        ),
        strict=True,
    ):
        assert part in line


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("[sizes]\nk = [5, 2]\nall = true", "[sizes]"), "sizes is empty"),
        (('metric = ["bns", "ig"]', 'metric = "bns"\nalpha = 0.5\nratio = 0.5'), "exclude each other"),
        (('metric = ["bns", "ig"]', 'metric = "bns"\ncombine = "joint"'), "joint"),
        (('metric = ["bns", "ig"]', 'metric = ["bns", "bi_normal_separation"]'), "twice"),
        (('metric = ["bns", "ig"]', 'metric = "bns"\nname = "all"'), "cannot be named 'all'"),
        (('metric = ["bns", "ig"]', 'metric = ["bns", "ig"]\nname = "both"'), "one name for 2 methods"),
        (('metric = ["bns", "ig"]', 'metric = "bns"\ncorpora = ["psts"]'), "did you mean 'posts'?"),
        (('metric = ["bns", "ig"]', 'select = "rato"\nmetric = "cc"'), "did you mean 'ratio'?"),
        (('metric = ["bns", "ig"]', 'select = "memory"\nbudget = 3'), "must be 1, 2, 4, 8"),
        (('metric = ["bns", "ig"]', 'select = "weight"\nmetric = "cc"'), "key of [[methods]] 1 'metric'"),
        (
            ("[sizes]\nk = [5, 2]", "[sizes]\nsparsity = [2]\n[problems]\nkind = 'multiclass'"),
            "'multi-class'?",
        ),
        (('name = "posts"', 'name = "../posts"'), "letters, digits"),
        (
            ('name = "posts"', 'name = "posts"\nformat = "arff"\noptions = {labell = "x"}'),
            "did you mean 'label'?",
        ),
        (('path = "posts.csv"', 'format = "docstrings"\npath = "posts.csv"'), "leave out its path"),
        (("[sizes]", '[representation]\nstop_words = "englisch"\n[sizes]'), "did you mean 'english'?"),
        (("[sizes]", '[protocol]\nkind = "kfolds"\n[sizes]'), "did you mean 'kfold'?"),
        (("[sizes]", '[protocol]\nkind = "split"\ntrials = 2\n[sizes]'), "key of [protocol] 'trials'"),
        (("[[corpora]]", 'base = "forman"\n[[corpora]]'), "did you mean 'forman2003'?"),
        (("[[learners]]", "[learners]"), "learners must be an array of tables"),
        (("[[corpora]]", "[[corpora]"), "is not valid TOML"),
        (('[[learners]]\nname = "svm"', ""), "needs the key 'learners'"),
        (('metric = ["bns", "ig"]', 'metric = "bns"\nratio = "half"'), "ratio must be a number, not 'half'"),
        (('metric = ["bns", "ig"]', 'metric = "bns"\nratio = true'), "ratio must be a number, not True"),
        (('metric = ["bns", "ig"]', "metric = []"), "must be a list with at least one entry, not []"),
        (("all = true", "all = 1"), "all must be true or false, not 1"),
        (
            ("[sizes]", '[protocol]\nkind = "random"\ntest_size = 1.0\n[sizes]'),
            "test_size must lie between 0 and 1, not 1.0",
        ),
        (
            ('path = "posts.csv"', 'path = "posts.csv"\nclasses = [true]'),
            "classes must be a class, not True",
        ),
        (("k = [5, 2]", "k = [5, 2, 5]"), "k names 5 twice"),
        (('name = "posts"', 'name = " "'), "name must be a text, not ' '"),
        (('path = "posts.csv"', 'path = "posts.csv"\noptions = 3'), "options must be a table, not 3"),
    ],
)
def test_each_fault_has_its_message(change, message):
    assert change[0] in SMALL
    assert message in "\n".join(faults(SMALL.replace(*change)))


def test_a_plan_prints_itself_canonically():
    plan = Plan.parse(SMALL)
    assert plan.sizes == (Size("k", 2.0), Size("k", 5.0), ALL)
    assert [method.name for method in plan.methods] == ["bns", "information_gain"]
    other = SMALL.replace('["bns", "ig"]', '["information_gain", "bi_normal_separation"]').replace(
        "[5, 2]", "[2, 5]"
    )
    assert str(Plan.parse(other + "# a comment")) == str(plan)
    assert Plan.parse(other).hash == plan.hash
    assert Plan.parse(SMALL.replace("[5, 2]", "[5]")).hash != plan.hash


@pytest.mark.parametrize("name", PLANS)
def test_built_in_plans_parse_and_print_back(name):
    plan = load_plan(name)
    again = Plan.parse(plan.to_toml(), name)
    assert again == plan
    assert again.hash == plan.hash
    assert plan.about


def test_forman2003_is_the_study_of_the_paper():
    plan = load_plan("forman2003")
    assert len(plan.corpora) == 18
    assert len(plan.methods) == 12
    assert [size.value for size in plan.sizes] == [10, 20, 50, 100, 200, 500, 1000, 2000, None]
    assert (plan.protocol.trials, plan.protocol.folds) == (5, 4)
    assert 193 * 20 * 12 * 8 == 370_560
    hinge = load_plan("forman2003_hinge")
    assert set(plan.lines()) < set(hinge.lines())


def test_lists_multiply_and_names_say_what_differs():
    text = SMALL.replace('metric = ["bns", "ig"]', 'metric = ["bns", "ig"]\nmin_df = [1, 5]')
    names = [method.name for method in Plan.parse(text).methods]
    assert names == ["bns", "bns min_df=5", "information_gain", "information_gain min_df=5"]


def test_unknown_plans_are_refused(tmp_path):
    with pytest.raises(StudyError, match="did you mean 'quick'"):
        load_plan("quik")
    with pytest.raises(StudyError, match="does not exist"):
        load_plan(tmp_path / "none.toml")
    (tmp_path / "own.toml").write_text(SMALL)
    assert load_plan(tmp_path / "own.toml").name == "own"


def test_any_value_survives_toml():
    """Keys with accents, NaN, infinity, quotes and control characters: a reader's options may have them."""
    options = {
        "schlüssel": "ä",
        "a key": [1, 2.5, "x"],
        "none": float("nan"),
        "most": float("inf"),
        "least": float("-inf"),
        "text": 'a "quote", a \\ and \x7f\n\t\u2028',
        "inner": {"ß": True},
    }
    plan = Plan.parse(SMALL)
    odd = replace(plan, corpora=(replace(plan.corpora[0], options=options),))
    again = Plan.parse(odd.to_toml())
    assert repr(again.corpora) == repr(odd.corpora)  # NaN is equal to nothing, but it is printed
    assert again.hash == odd.hash
