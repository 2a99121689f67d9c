"""A plugin has a simulation for one call, and what it did there is gone afterwards."""

import pytest
from nodewright.api import Simulation
from nodewright.scheduling.lent import lend
from nodewright.testing import a_group, a_node, a_pod, a_template, pods_like
from nodewright.testing.contexts import a_simulation

PODS = pods_like(a_pod("web", cpu="1"), 3)
GROUP = a_group("a", template=a_template(cpu="4"))


@pytest.fixture
def simulation():
    return a_simulation(nodes=[a_node("n", cpu="4")])


def test_what_is_done_outside_of_a_fork_is_undone_when_the_call_is_over(simulation) -> None:
    with lend(simulation) as lent:
        lent.place(PODS)
        lent.add_nodes(GROUP, 2)
        assert lent.free("n")["cpu"] == 1000
    assert simulation.free("n")["cpu"] == 4000
    assert simulation.size == 1


def test_a_simulation_that_was_kept_for_later_can_do_nothing(simulation) -> None:
    with lend(simulation) as lent:
        pass
    for use in (
        lambda: lent.place(PODS),
        lambda: lent.add_nodes(GROUP, 1),
        lambda: lent.why_not(PODS, "n"),
        lambda: lent.rules(PODS),
        lambda: lent.free("n"),
        lambda: lent.fork(),
    ):
        with pytest.raises(RuntimeError, match="lent for one call, which is over"):
            use()


def test_forks_end_with_their_block(simulation) -> None:
    with lend(simulation) as lent:
        with lent.fork() as fork:
            fork.place(PODS)
            with fork.fork():
                fork.add_nodes(GROUP, 1)
            assert fork.free("n")["cpu"] == 1000
        assert lent.free("n")["cpu"] == 4000


def test_a_fork_that_was_left_open_is_undone_and_told(simulation) -> None:
    forks = []

    def leave_open():
        with lend(simulation) as lent:
            forks.append(lent.fork())
            forks[0].__enter__()
            lent.place(PODS)

    with pytest.raises(RuntimeError, match="a fork of the simulation was left open"):
        leave_open()
    assert simulation.free("n")["cpu"] == 4000
    with pytest.raises(RuntimeError, match="has ended already"):
        forks[0].__exit__(None, None, None)
    with simulation.fork():
        simulation.place(PODS)
    assert simulation.free("n")["cpu"] == 4000


def test_a_plugin_reaches_nothing_but_the_contract(simulation) -> None:
    with lend(simulation) as lent:
        assert set(filter(_is_public, dir(lent))) == set(filter(_is_public, vars(Simulation)))


def _is_public(name):
    return not name.startswith("_")
