"""What the provider knows besides the groups themselves, part by part."""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from nodewright.api import (
    GroupOptions,
    InstanceError,
    NodeTemplate,
    NodewrightError,
    PricingModel,
)

from nodewright_aws.groups.reading import GroupReading
from nodewright_aws.pools import Pool

_log = logging.getLogger(__name__)


class Templates(Protocol):
    """What new nodes of groups look like."""

    def refresh(self, groups: Sequence[GroupReading]) -> None:
        """Read what is unknown or old of the set-up of *groups*, instance types included."""

    def template(self, group: GroupReading) -> NodeTemplate | None:
        """A new node of *group*; raises `NodewrightError` if its set-up can't be read."""

    def pools(self, group: GroupReading) -> Sequence[Pool]:
        """The capacity pools that *group* draws from."""

    def options(self, group: GroupReading, defaults: GroupOptions) -> GroupOptions:
        """The options that *group* is tagged with, over *defaults*."""

    def complete(self, group: GroupReading, template: NodeTemplate) -> NodeTemplate:
        """A template that was taken of a real node of *group*, with what such a node does not tell."""


class Activities(Protocol):
    """Why machines that were asked for do not come."""

    def refresh(self, short: Sequence[GroupReading]) -> None:
        """Read what became of the orders of groups that are *short* of machines."""

    def failure(self, group: GroupReading) -> InstanceError | None:
        """Why the missing machines of *group* will not come; None if they may."""

    def asked(self, name: str) -> None:
        """Note that the group was just asked for more machines."""


class Interruptions(Protocol):
    """Which machines AWS is about to take away."""

    @property
    def doomed(self) -> Mapping[str, str]:
        """Why, by instance id."""

    def refresh(self, groups: Sequence[GroupReading]) -> None:
        """Read what is new about machines of *groups*."""


class Prices(Protocol):
    """What machines cost."""

    def refresh(self, pools: Collection[Pool]) -> None:
        """Read what is unknown or old of the prices of *pools*."""

    def model(self) -> PricingModel:
        """Prices as of the last refresh."""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """All of them; each has a thread at a time in ``refresh``, and answers others without a call."""

    templates: Templates
    activities: Activities
    interruptions: Interruptions
    prices: Prices


@dataclass(kw_only=True)
class Attempts:
    """Tries what a loop can do without, and tells once what is wrong with it."""

    _trouble: dict[str, str] = field(default_factory=dict)

    def make(self, what: str, attempt: Callable[[], None]) -> None:
        """Run *attempt*, which reads *what*; whatever it raises is logged when it begins and when it is over."""
        try:
            attempt()
        except NodewrightError as error:
            self._note(what, str(error) or type(error).__name__)
        except Exception as error:
            if self._note(what, f"{type(error).__name__}: {error}"):
                _log.exception("this is a fault of nodewright-aws")
        else:
            if self._trouble.pop(what, ""):
                _log.info("%s can be read again", what)

    def _note(self, what: str, trouble: str) -> bool:
        """Log *trouble* unless it is known; tell whether it is new."""
        known = self._trouble.get(what)
        self._trouble[what] = trouble
        if known != trouble:
            _log.warning("%s could not be read, and what was known stays: %s", what, trouble)
        return known != trouble
