"""A live account as a cloud under test: what is guarded, what is waited for, and what is set back."""

from dataclasses import replace
from datetime import timedelta

import pytest
from nodewright.api import InstanceState, NodeGroup, Provider, ProviderContext, TemporaryError, ThrottledError
from nodewright.api.errors import WithheldError
from nodewright.config.secrets import masked, secrets_in, without_secrets
from nodewright.testing import EPOCH, SteppedClock, a_failed_instance, an_instance
from nodewright.testing.conformance.live.cloud import LiveCloud, Patience, ResizedCloud, most_telling
from nodewright.testing.conformance.live.guard import GuardedGroup, GuardedProvider


class Yard:
    """A cloud of two groups; machines come when the clock moves, unless it is *stuck*."""

    def __init__(self):
        self.clock = PatientClock(self)
        self.target = {"web": 2, "other": 1}
        self.machines = {name: [machine(name, n) for n in range(size)] for name, size in self.target.items()}
        self.actions = []
        self.stuck = False
        self.born = 10
        self.made = 0
        self.refusals = []

    def work(self):
        for name, machines in self.machines.items():
            machines[:] = [
                replace(each, state=InstanceState.RUNNING)
                for each in machines
                if each.state is not InstanceState.DELETING
            ]
            while len(machines) < self.target[name] and not self.stuck:
                machines.append(machine(name, self.born))
                self.born += 1

    def provider(self):
        self.made += 1
        return YardProvider(self)


class PatientClock(SteppedClock):
    """Whoever waits finds that the time has passed, and that work was done."""

    def __init__(self, yard):
        super().__init__()
        self.yard = yard
        self.waits = []

    def wait(self, event, timeout):
        self.waits.append(timeout)
        self.advance(timeout)
        self.yard.work()
        return False


def machine(group, number):
    return an_instance(f"yard://{group}-{number}")


class YardGroup(NodeGroup):
    min_size, max_size = 1, 5

    def __init__(self, yard, name):
        self.yard, self.name = yard, name

    id = property(lambda self: self.name)
    target_size = property(lambda self: self.yard.target[self.name])

    def instances(self):
        return list(self.yard.machines[self.name])

    def increase(self, count):
        self.yard.actions.append(("increase", self.name, count))
        self.yard.target[self.name] += count

    def delete_nodes(self, nodes):
        ids = [node.spec.provider_id for node in nodes]
        self.yard.actions.append(("delete", self.name, ids))
        self.yard.target[self.name] -= len(ids)
        machines = self.yard.machines[self.name]
        machines[:] = [replace(each, state=InstanceState.DELETING) if each.id in ids else each for each in machines]

    def decrease_target(self, count):
        self.yard.actions.append(("decrease", self.name, count))
        self.yard.target[self.name] -= count


class YardProvider(Provider):
    def __init__(self, yard):
        super().__init__(self.Config(), ProviderContext(clock=yard.clock))
        self.yard = yard

    def refresh(self):
        if self.yard.refusals:
            raise self.yard.refusals.pop()

    def groups(self):
        return [YardGroup(self.yard, name) for name in self.yard.target]

    def group_of(self, node):
        return None


@pytest.fixture
def yard():
    return Yard()


@pytest.fixture
def cloud(yard):
    patience = Patience(deadline=timedelta(minutes=5), interval=timedelta(seconds=30))
    return ResizedCloud(yard.provider, "web", yard.clock, patience)


def groups_of(cloud):
    return {group.id: group for group in cloud.provider().groups()}


class TestGuard:
    """What is only to be read is not changed."""

    @pytest.mark.parametrize(("guard", "contract"), [(GuardedGroup, NodeGroup), (GuardedProvider, Provider)])
    def test_all_of_the_contract_is_guarded(self, guard, contract) -> None:
        names = {name for name in vars(contract) if not name.startswith("_")} - {
            "capabilities",
            "gpu_label",
            "balancing_ignored_labels",
        }
        assert names - vars(guard).keys() == set()

    @pytest.mark.parametrize(
        ("action", "arguments"),
        [
            ("increase", [1]),
            ("increase_atomically", [1]),
            ("delete_nodes", [[]]),
            ("force_delete_nodes", [[]]),
            ("decrease_target", [1]),
        ],
    )
    def test_no_action_reaches_the_provider(self, yard, action, arguments) -> None:
        group = groups_of(LiveCloud(yard.provider, "web"))["web"]
        with pytest.raises(WithheldError, match=f"^{action}\\(.*\\) of group web is not done: it is only to be read$"):
            getattr(group, action)(*arguments)
        assert yard.actions == []

    def test_of_several_groups_only_the_one_that_may_be_is_resized(self, yard, cloud) -> None:
        groups_of(cloud)["web"].increase(1)
        with pytest.raises(WithheldError):
            groups_of(cloud)["other"].increase(1)
        assert yard.actions == [("increase", "web", 1)]


class TestSettling:
    """A live group is waited for."""

    def test_it_waits_until_what_was_ordered_runs(self, yard, cloud) -> None:
        groups_of(cloud)["web"].increase(2)
        cloud.settle()
        assert len(yard.machines["web"]) == 4

    def test_it_looks_often_at_first_and_then_as_seldom_as_it_may(self, yard, cloud) -> None:
        groups_of(cloud)["web"].increase(1)
        yard.stuck = True
        with pytest.raises(TemporaryError):
            cloud.settle()
        pauses = yard.clock.waits
        assert pauses[:3] == [1.0, 1.5, 2.25]
        assert pauses == sorted(pauses)
        assert pauses[-1] == 30

    def test_a_cloud_that_is_quick_is_not_waited_for_long(self, yard, cloud) -> None:
        groups_of(cloud)["web"].increase(1)
        cloud.settle()
        assert yard.clock.now() - EPOCH == timedelta(seconds=1)

    def test_a_cloud_that_asks_for_fewer_calls_is_left_alone_as_long_as_it_says(self, yard, cloud) -> None:
        yard.refusals = [ThrottledError("slow down", retry_after=45)]
        cloud.settle()
        assert yard.clock.waits == [45]

    def test_a_cloud_that_does_not_say_how_long_is_left_alone_for_the_longest_pause(self, yard, cloud) -> None:
        yard.refusals = [ThrottledError("slow down")]
        cloud.settle()
        assert yard.clock.waits == [30]

    def test_a_cloud_that_asks_for_more_time_than_there_is_is_told(self, yard, cloud) -> None:
        yard.refusals = [ThrottledError("slow down", retry_after=3600)]
        with pytest.raises(ThrottledError):
            cloud.settle()
        assert yard.clock.waits == []

    def test_it_gives_up_at_the_deadline(self, yard, cloud) -> None:
        yard.stuck = True
        groups_of(cloud)["web"].increase(1)
        with pytest.raises(
            TemporaryError, match=r"^group web has not come to rest within 5 min: 2 running, asked for 3$"
        ):
            cloud.settle()
        assert timedelta(minutes=5) <= yard.clock.now() - EPOCH < timedelta(minutes=5, seconds=30)

    def test_it_does_not_wait_for_what_has_failed(self, yard, cloud) -> None:
        yard.stuck = True
        groups_of(cloud)["web"].increase(1)
        yard.machines["web"].append(a_failed_instance("yard://web-9", message="sold out"))
        with pytest.raises(TemporaryError, match=r"does not get the machines .*: NoMachinesLeft sold out$"):
            cloud.settle()
        assert yard.clock.now() == EPOCH


class TestRestoring:
    """After a test the group is as it was found."""

    def test_what_came_in_addition_goes_and_what_was_there_stays(self, yard, cloud) -> None:
        groups_of(cloud)["web"].increase(2)
        cloud.settle()
        cloud.restore()
        assert yard.actions[1:] == [("delete", "web", ["yard://web-11", "yard://web-10"])]
        assert [each.id for each in yard.machines["web"]] == ["yard://web-0", "yard://web-1"]

    def test_what_was_deleted_is_ordered(self, yard, cloud) -> None:
        groups_of(cloud)["web"].delete_nodes([cloud.node("yard://web-0")])
        cloud.restore()
        assert (yard.target["web"], len(yard.machines["web"])) == (2, 2)

    def test_demand_that_is_not_met_is_given_up(self, yard, cloud) -> None:
        yard.stuck = True
        groups_of(cloud)["web"].increase(2)
        cloud.restore()
        assert yard.actions == [("increase", "web", 2), ("decrease", "web", 2)]

    def test_machines_that_failed_are_deleted(self, yard, cloud) -> None:
        yard.stuck = True
        groups_of(cloud)["web"].increase(1)
        yard.machines["web"].append(a_failed_instance("yard://web-9"))
        cloud.restore()
        assert yard.actions[1:] == [("delete", "web", ["yard://web-9"])]

    def test_what_nobody_can_have_changed_is_not_looked_at_again(self, yard, cloud) -> None:
        cloud.prepare()
        made = yard.made
        cloud.restore()
        cloud.prepare()
        assert yard.made == made

    def test_a_group_at_rest_is_left_alone(self, yard, cloud) -> None:
        cloud.restore()
        assert yard.actions == []
        assert yard.clock.now() == EPOCH


SETTINGS = {
    "region": "eu-west-1",
    "apiToken": "tok-4711",
    "assumeRole": {"arn": "arn:role/x", "externalId": "outside-1"},
    "credentials": {"id": "AKIA1234", "nested": ["hush-hush"]},
    "url": "https://me:pass@cloud.example/api",
    "secure": True,
}


class TestSecrets:
    """What nobody else may read is masked."""

    def test_settings_are_shown_without(self) -> None:
        assert without_secrets(SETTINGS) == {
            "region": "eu-west-1",
            "apiToken": "***",
            "assumeRole": {"arn": "arn:role/x", "externalId": "***"},
            "credentials": {"id": "***", "nested": ["***"]},
            "url": "https://***@cloud.example/api",
            "secure": True,
        }

    def test_messages_are_shown_without(self) -> None:
        secrets = frozenset(secrets_in(SETTINGS))
        told = masked("tok-4711 of outside-1 at https://me:pass@cloud.example is no good", secrets)
        assert told == "*** of *** at https://***@cloud.example is no good"


def test_rules_are_tried_with_a_group_that_is_at_rest(yard) -> None:
    yard.target["web"] = 3
    assert most_telling(yard.provider().groups()).id == "other"


def test_rules_are_tried_with_a_group_that_is_busy_rather_than_empty_or_dark(yard) -> None:
    class Dark(YardGroup):
        def instances(self):
            raise TemporaryError("nobody knows")

    yard.target |= {"web": 3, "other": 0}
    yard.machines["other"] = []
    groups = [Dark(yard, "web"), YardGroup(yard, "other"), YardGroup(yard, "web")]
    assert most_telling(groups) is groups[2]
