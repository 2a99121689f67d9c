"""Which provider fails which test."""

from functools import wraps

from ..meadow_provider import MeadowGroup, MeadowProvider
from ..provider import ShedGroup, ShedProvider

#: The class by the name of the test that it fails.
BROKEN = {}
#: More classes, with the name of the test that each fails: a rule may be broken in several ways.
MORE = []


def fails(test, *, until_healed=False):
    """Register a provider, or a group that a provider gives out, as one that fails *test* alone.

    What it tells is wrong in general. To break no rule on what is told after faults, it is right again *until_healed*.
    """

    def register(cls):
        assert test not in BROKEN, f"{test} is failed by {BROKEN[test].__name__} already"
        BROKEN[test] = _provider(_right_once_healed(cls) if until_healed else cls)
        return cls

    return register


def also_fails(test):
    """Register another one that fails *test* alone."""

    def register(cls):
        MORE.append((test, _provider(cls)))
        return cls

    return register


def _provider(cls):
    for group, provider in ((ShedGroup, ShedProvider), (MeadowGroup, MeadowProvider)):
        if issubclass(cls, group):
            return type(cls.__name__, (provider,), {"group_class": cls})
    return cls


def _right_once_healed(cls):
    """*cls*, whose own methods do as those of its base once the shed was healed from any fault."""
    base = ShedGroup if issubclass(cls, ShedGroup) else ShedProvider
    changes = {name: _either(own, vars(base)[name]) for name, own in vars(cls).items() if name in _FACTS[base]}
    if "group_class" in vars(cls):
        changes["group_class"] = _right_once_healed(cls.group_class)
    return type(cls.__name__, (cls,), changes)


_FACTS = {ShedGroup: ("target_size", "instances"), ShedProvider: ("refresh",)}


def _either(own, right):
    if isinstance(own, property):
        return property(_either(own.fget, right.fget))

    @wraps(own)
    def method(self):
        return right(self) if self.shed.healed else own(self)

    return method
