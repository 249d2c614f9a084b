from sklearn.utils.estimator_checks import parametrize_with_checks

from termsieve import TermSelector


@parametrize_with_checks(
    [
        TermSelector(),
        TermSelector("chi_squared", k=3, side="positive"),
        TermSelector("ig", fraction=0.5, combine="joint"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
