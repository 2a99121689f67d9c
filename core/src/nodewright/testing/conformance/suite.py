"""What all suites of conformance tests have in common."""

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
        owners = (vars(owner).get(_NEEDS, ()) for owner in _owners(request))
        for requirement in (*(each for needs in owners for each in needs), *_needs_of(request.function)):
            reason = requirement(request)
            if reason:
                pytest.skip(reason)


def _owners(request: pytest.FixtureRequest) -> list[type]:
    """The class that defines the test, and its bases."""
    for owner in request.cls.__mro__:
        if request.function.__name__ in vars(owner):
            return list(reversed(owner.__mro__))
    return []


def _needs_of(function: Callable[..., Any]) -> tuple[Requirement, ...]:
    needs: tuple[Requirement, ...] = getattr(function, _NEEDS, ())
    return needs
