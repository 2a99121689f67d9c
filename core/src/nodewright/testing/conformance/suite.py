"""The base of all conformance suites: requirements, and skipping."""

from collections.abc import Callable
from typing import Any, TypeVar

import pytest

Test = TypeVar("Test", bound=Callable[..., Any])

_NEEDS = "__needs__"

#: Says why a test can't run with a cloud and its provider; empty if it can.
Requirement = Callable[[pytest.FixtureRequest], str]


def requires(*requirements: Requirement) -> Callable[[Test], Test]:
    """Mark a test, or all tests of a class, as one that is skipped unless *requirements* are met."""

    def mark(test: Test) -> Test:
        setattr(test, _NEEDS, (*requirements, *vars(test).get(_NEEDS, ())))
        return test

    return mark


class Suite:
    """Base of all suites: skips tests that need what is not there, with the reason."""

    @pytest.fixture(autouse=True)
    def _skip_what_can_not_run(self, request: pytest.FixtureRequest) -> None:
        for requirement in requirements(request.cls, request.function.__name__):
            reason = requirement(request)
            if reason:
                pytest.skip(reason)


def requirements(suite: type, test: str) -> tuple[Requirement, ...]:
    """What *test* of *suite* needs: what is marked on it, and on the class that it was first written in."""
    owners = [owner for owner in suite.__mro__ if test in vars(owner)]
    marked = (*reversed(owners[-1].__mro__), *(vars(owner)[test] for owner in reversed(owners)))
    return tuple(dict.fromkeys(each for one in marked for each in vars(one).get(_NEEDS, ())))
