"""Providers that do one thing wrong each: for every test of the suite, one that fails it and nothing else."""

from ..provider import ShedGroup, ShedProvider

#: The class by the name of the test that it fails.
BROKEN = {}


def fails(test):
    """Register a provider, or a group that a provider gives out, as one that fails *test* alone."""

    def register(cls):
        assert test not in BROKEN, f"{test} is failed by {BROKEN[test].__name__} already"
        if issubclass(cls, ShedGroup):
            BROKEN[test] = type(cls.__name__, (ShedProvider,), {"group_class": cls})
        else:
            BROKEN[test] = cls
        return cls

    return register


from . import calls, deletion, facts, faults, growth, identity, instances, refreshing, templates  # noqa: E402

__all__ = ["BROKEN", "calls", "deletion", "facts", "faults", "growth", "identity", "instances", "refreshing"]
__all__ += ["templates"]
