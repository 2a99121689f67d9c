"""Everything that a scenario, a story or a person can do to the cloud.

One vocabulary for all: ``faults`` and ``story`` of a scenario, ``/control`` of the HTTP API and ``nodewright world
control`` are made from the fields of `CloudAction`.
"""

from fnmatch import fnmatchcase
from typing import Any, Self, get_args

from nodewright.api import Pause
from pydantic import Field, model_validator
from pydantic.alias_generators import to_camel

from nodewright_fake.cloud.action import Action
from nodewright_fake.cloud.api_actions import FailApi, HealApi, SlowApi, Throttle
from nodewright_fake.cloud.cloud import Cloud, Group
from nodewright_fake.cloud.machine_actions import (
    BreakBoots,
    Hang,
    HealBoots,
    Reclaim,
    ReclaimEvery,
    Recover,
    Remake,
    Stop,
)
from nodewright_fake.cloud.refusal import RefusalError
from nodewright_fake.cloud.supply_actions import LiftQuota, LimitQuota, Restore, StockOut
from nodewright_fake.names import GroupName, GroupPattern, InstanceTypeName
from nodewright_fake.settings import Settings


class Resize(Action):
    """Someone changes a group's bounds or size behind the autoscaler's back."""

    summary = "change a group's bounds or size by hand"

    group: GroupName
    min: int | None = Field(default=None, ge=0)
    max: int | None = Field(default=None, ge=0)
    desired: int | None = Field(default=None, ge=0)

    def apply(self, cloud: Cloud) -> None:
        """Change them."""
        cloud.resize(self.group, minimum=self.min, maximum=self.max, desired=self.desired)


class PauseGroups(Action):
    """Groups are not the autoscaler's to change for a while."""

    summary = "have groups left alone for a while"

    groups: GroupPattern
    why: str = "somebody works on it"
    #: Whether their machines may be removed all the same.
    shrinks: bool = False

    def apply(self, cloud: Cloud) -> None:
        """Pause them."""
        with cloud.lock:
            for group in _groups(cloud, self.groups):
                group.pause = Pause(why=self.why, shrinks=self.shrinks)


class ResumeGroups(Action):
    """Groups are the autoscaler's to change again."""

    summary = "end what pause did"

    groups: GroupPattern = "*"

    def apply(self, cloud: Cloud) -> None:
        """End their pause."""
        with cloud.lock:
            for group in _groups(cloud, self.groups):
                group.pause = None


def _groups(cloud: Cloud, pattern: str) -> list[Group]:
    return [group for group in cloud.groups if fnmatchcase(group.settings.name, pattern)]


class SetPrice(Action):
    """An instance type has another price from now on; machines that run keep theirs."""

    summary = "change the price of an instance type"

    type: InstanceTypeName
    price: float | None = Field(default=None, ge=0)
    spot_price: float | None = Field(default=None, ge=0)

    def apply(self, cloud: Cloud) -> None:
        """Change it."""
        with cloud.lock:
            changes = {"price": self.price, "spot_price": self.spot_price}
            given = {name: price for name, price in changes.items() if price is not None}
            cloud.instance_types[self.type] = cloud.instance_types[self.type].model_copy(update=given)


class Heal(Action):
    """No stock-outs, quotas, pauses, boot faults and API faults any more; what they did so far stays."""

    summary = "end all faults"

    def apply(self, cloud: Cloud) -> None:
        """Forget all faults."""
        with cloud.lock:
            cloud.supply.lift_stocks("*")
            cloud.supply.lift_quotas("*")
            cloud.boot_faults.heal("*")
            cloud.gate.heal("*")
            for group in cloud.groups:
                group.pause = None
            cloud.fill()


class CloudAction(Settings):
    """Exactly one action, under its name."""

    stock_out: StockOut | None = None
    restore: Restore | None = None
    limit_quota: LimitQuota | None = None
    lift_quota: LiftQuota | None = None
    break_boots: BreakBoots | None = None
    heal_boots: HealBoots | None = None
    throttle: Throttle | None = None
    fail_api: FailApi | None = None
    slow_api: SlowApi | None = None
    heal_api: HealApi | None = None
    reclaim: Reclaim | None = None
    reclaim_every: ReclaimEvery | None = None
    stop: Stop | None = None
    remake: Remake | None = None
    hang: Hang | None = None
    recover: Recover | None = None
    resize: Resize | None = None
    pause: PauseGroups | None = None
    resume: ResumeGroups | None = None
    set_price: SetPrice | None = None
    heal: Heal | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        given = [to_camel(name) for name in type(self).model_fields if getattr(self, name) is not None]
        if len(given) == 1:
            return self
        if given:
            raise ValueError(f"one action at a time, not {' and '.join(given)}: write them as separate items")
        raise ValueError(f"names no action: write one of {', '.join(map(to_camel, type(self).model_fields))}")

    @property
    def action(self) -> Action:
        """The action."""
        actions: list[Action | None] = list(vars(self).values())
        return next(action for action in actions if action is not None)

    def apply(self, cloud: Cloud) -> None:
        """Do it."""
        self.action.apply(cloud)


#: Every action by its name in kebab-case, as URLs and the command line spell it.
ACTIONS: dict[str, type[Action]] = {
    name.replace("_", "-"): get_args(field.annotation)[0] for name, field in CloudAction.model_fields.items()
}


def perform(cloud: Cloud, name: str, body: Any) -> None:
    """Do the action *name* with its fields in *body*; raises `RefusalError` or pydantic's `ValidationError`."""
    action = ACTIONS.get(name)
    if action is None:
        raise RefusalError(404, "NO_SUCH_ACTION", f"there is no action {name!r}; there are: {', '.join(ACTIONS)}")
    action.model_validate(body, context=cloud.known).apply(cloud)
