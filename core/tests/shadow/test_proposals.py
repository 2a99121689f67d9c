"""What each loop proposes is one proposal, while it is the same action."""

from datetime import UTC, datetime, timedelta

from nodewright.shadow.proposals import Proposals, ProposedAction

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def after(minutes):
    return NOW + timedelta(minutes=minutes)


def an_action(*pods, group="a", **fields):
    return {group: ProposedAction(group=group, what="would grow", pods=frozenset(pods), **fields)}


def some():
    return Proposals(timedelta(minutes=2))


def test_an_action_in_vain_is_overdue_once() -> None:
    proposals = some()
    proposals.renew(an_action("p", "q"), NOW)
    proposals.renew(an_action("q", "r"), after(2))
    assert proposals.overdue(after(2)) == {}
    assert set(proposals.overdue(after(2.1))) == {"a"}
    assert proposals.overdue(after(3)) == {}


def test_an_action_for_other_pods_is_another_one() -> None:
    proposals = some()
    proposals.renew(an_action("p"), NOW)
    proposals.renew(an_action("q"), after(2.1))
    assert proposals.overdue(after(2.1)) == {}


def test_an_action_for_the_same_pods_in_another_group_is_as_old() -> None:
    proposals = some()
    proposals.renew(an_action("p"), NOW)
    proposals.renew(an_action("p", group="b"), after(1))
    assert set(proposals.overdue(after(2.1))) == {"b"}


def test_an_action_that_lapsed_is_known_for_a_while_and_over_if_it_was_reported() -> None:
    proposals = some()
    proposals.renew(an_action("p"), NOW)
    proposals.overdue(after(3))
    assert proposals.renew({}, after(4)) == {}
    assert proposals.get("a") is not None
    assert set(proposals.renew({}, after(6.1))) == {"a"}
    assert proposals.get("a") is None


def test_what_the_other_one_need_not_do_is_never_overdue() -> None:
    proposals = some()
    proposals.renew(an_action("p", optional=True), NOW)
    assert proposals.overdue(after(9)) == {}


def test_time_before_the_other_ones_timers_are_known_does_not_count() -> None:
    proposals = some()
    proposals.renew(an_action(), NOW)
    assert proposals.overdue(after(3), not_before=after(2)) == {}
    assert set(proposals.overdue(after(4.1), not_before=after(2))) == {"a"}
