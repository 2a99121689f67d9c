"""Which provider fails which test."""

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
