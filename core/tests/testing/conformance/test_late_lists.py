"""The provider of the page on clouds without a target size, where lists come late and calls fail half way."""

from itertools import chain, repeat

import pytest
from nodewright.api import CloudUnavailableError, InstanceState, NodeGroup, ProviderContext, ThrottledError
from nodewright.testing import SteppedClock, a_node

from .meadow import Machine, Meadow, MeadowError
from .meadow_provider import Field, MeadowProvider

AN_HOUR = 3600


class OddMeadow(Meadow):
    """Answers orders and deletions as *answers* says: with the code of an error, or with none. Remembers deletions."""

    answers = repeat("")

    def __init__(self):
        super().__init__()
        self.deletions = []

    def make(self, name, group):
        self._answer_as_told()
        super().make(name, group)

    def delete(self, name):
        self.deletions.append(name)
        self._answer_as_told()
        super().delete(name)

    def _answer_as_told(self):
        code = next(self.answers)
        if code:
            raise MeadowError(code)


@pytest.fixture
def meadow() -> OddMeadow:
    return OddMeadow()


@pytest.fixture
def clock() -> SteppedClock:
    return SteppedClock()


@pytest.fixture
def provider(meadow, clock) -> MeadowProvider:
    provider = MeadowProvider(MeadowProvider.Config(), ProviderContext(clock=clock), meadow, [Field(name="web")])
    provider.refresh()
    return provider


def group_of(provider) -> NodeGroup:
    provider.refresh()
    (group,) = provider.groups()
    return group


def states(provider) -> list[InstanceState]:
    return [each.state for each in group_of(provider).instances()]


def test_a_machine_that_was_undone_before_it_was_listed_does_not_run(provider, meadow) -> None:
    meadow.told = {}
    meadow.lost = True
    with pytest.raises(CloudUnavailableError):
        group_of(provider).increase(1)
    assert states(provider) == []
    # By now the list has the creation, but not the deletion.
    (undone,) = meadow.deletions
    meadow.told = {undone: Machine(name=undone, group="web", state="up")}
    assert states(provider) == [InstanceState.DELETING]
    assert group_of(provider).target_size == 0


def test_a_machine_that_was_deleted_before_it_was_listed_is_gone(provider, meadow, clock) -> None:
    meadow.told = {}
    group_of(provider).increase(1)
    (young,) = group_of(provider).instances()
    group_of(provider).delete_nodes([a_node("young", provider_id=young.id)])
    assert states(provider) == []
    (name,) = meadow.deletions
    meadow.told = {name: Machine(name=name, group="web", state="coming")}
    assert states(provider) == [InstanceState.DELETING]
    meadow.told = {}
    clock.advance(AN_HOUR)
    assert states(provider) == []


def test_a_deletion_that_had_no_effect_shows_in_the_end(provider, meadow, clock) -> None:
    group_of(provider).increase(1)
    meadow.work()
    meadow.told = dict(meadow.machines)
    (machine,) = group_of(provider).instances()
    group_of(provider).delete_nodes([a_node("doomed", provider_id=machine.id)])
    assert states(provider) == [InstanceState.DELETING]
    clock.advance(AN_HOUR)
    assert states(provider) == [InstanceState.RUNNING]


def test_a_machine_that_is_never_listed_is_given_up(provider, meadow, clock) -> None:
    meadow.told = {}
    group_of(provider).increase(1)
    assert group_of(provider).target_size == 1
    clock.advance(AN_HOUR)
    assert group_of(provider).target_size == 0


def test_a_cloud_that_asks_for_fewer_calls_gets_no_deletions(provider, meadow) -> None:
    meadow.answers = chain(["", "", "Hurry"], repeat(""))
    with pytest.raises(ThrottledError):
        group_of(provider).increase(3)
    assert meadow.deletions == []
    assert group_of(provider).target_size == 2


def test_a_cloud_that_does_not_answer_gets_one_deletion(provider, meadow) -> None:
    meadow.answers = chain(["", ""], repeat("Silence"))
    with pytest.raises(CloudUnavailableError):
        group_of(provider).increase(3)
    assert len(meadow.deletions) == 1
    assert group_of(provider).target_size == 2


def test_machines_that_were_never_ordered_are_not_deleted(provider, meadow) -> None:
    meadow.answers = chain(["", "NoAnswer"], repeat(""))
    with pytest.raises(CloudUnavailableError):
        group_of(provider).increase(5)
    assert len(meadow.deletions) == 2
    assert group_of(provider).target_size == 0
