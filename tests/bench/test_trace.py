"""A trace is read as it is meant, and a replay of it counts what happened."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.openb import DAY, FOLDER, Trace
from bench.openb_world import hourly_price
from bench.trace import replay_day

NODES = """sn,cpu_milli,memory_mib,gpu,model
n-0,8000,32768,0,
n-1,8000,32768,0,
n-2,16000,65536,2,T4
n-3,16000,65536,2,P100
"""
PODS = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
START = 2 * DAY


def a_row(name, created, deleted, *, gpus=0, milli=1000, models="", cpu=3000):
    """A line of the table of pods."""
    return f"{name},{cpu},4096,{gpus},{milli},{models},LS,Running,{created},{deleted},\n"


@pytest.fixture
def trace_of(tmp_path, monkeypatch):
    """Reads a trace with these pods and four machines of three types."""

    def read(*rows):
        (tmp_path / "openb_node_list_all_node.csv").write_text(NODES)
        (tmp_path / "openb_pod_list_default.csv").write_text(PODS + "".join(rows))
        monkeypatch.setenv(FOLDER, str(tmp_path))
        return Trace.read()

    return read


def test_without_its_folder_there_is_no_trace(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path / "nowhere"))
    assert Trace.read() is None


def test_machines_of_a_type_are_counted_and_priced_by_what_they_have(trace_of) -> None:
    machines = trace_of().machines
    assert {machine.name: count for machine, count in machines.items()} == {
        "8c-32g": 2,
        "16c-64g-2xt4": 1,
        "16c-64g-2xp100": 1,
    }
    prices = {machine.name: hourly_price(machine) for machine in machines}
    assert prices == {"8c-32g": 0.368, "16c-64g-2xt4": 1.436, "16c-64g-2xp100": 2.136}


def test_a_share_of_a_gpu_is_a_whole_one(trace_of) -> None:
    (task,) = trace_of(a_row("a", 5, 9, gpus=1, milli=460, models="T4|P100")).tasks
    assert (task.gpus, task.shared, task.models) == (1, True, ("T4", "P100"))


def test_the_densest_day_is_the_one_with_most_arrivals_but_for_the_first(trace_of) -> None:
    early = [a_row(f"early-{n}", 0, 9 * DAY) for n in range(5)]
    rows = [a_row("a", DAY, 9 * DAY), a_row("b", START + 1, 9 * DAY), a_row("c", START + 2, 9 * DAY)]
    assert trace_of(*early, *rows).densest_day() == START


def test_a_replay_counts_waiting_machines_and_pods_that_move(trace_of) -> None:
    trace = trace_of(
        a_row("resident", 0, 9 * DAY),
        # Finds room beside the resident. The third has none: a machine takes 50 seconds, after 0.6 since it was
        # seen, in case others follow.
        a_row("second", START + 60, 9 * DAY),
        a_row("third", START + 120, START + 400),
        a_row("brief", START + 600, START + 610, gpus=1, models="P100"),
    )
    day = replay_day(trace, START, length=2400)
    assert day.waits == [0, 0, 10, 51.1]
    assert (day.without_node, day.nodes_removed, day.evictions) == (1, 1, 0)
    assert day.failures == []
    # The second machine is there for the third pod, until it may be looked at again, and ten minutes more.
    assert 2400 + 840 < 3600 * day.node_hours < 2400 + 1100
    assert day.cost == pytest.approx(0.368 * day.node_hours)
    assert f"{day.nodes_removed} nodes removed" in str(day)
