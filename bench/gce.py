"""A large project of Google Cloud: how many calls a loop makes, and the CPU time of reading."""

import logging
import os
from collections import Counter
from multiprocessing import get_context
from multiprocessing.connection import Connection
from statistics import median
from time import process_time

from nodewright.api import ProviderContext
from nodewright.testing.clock import SteppedClock
from nodewright_gce.config.gce import GceConfig
from nodewright_gce.provider import GceProvider
from nodewright_gce.testing import GceDouble

from bench.measure import RUNS, Case, Figure, duration

_GROUPS, _EACH = 200, 25
_SHORT = 20
_PREFIX = "group-"
_REGIONS = {"europe-west1": "bcd", "europe-west4": "abc"}
_ZONES = tuple(f"{region}-{letter}" for region, letters in _REGIONS.items() for letter in letters)
_TYPES = ("n2-standard-4", "e2-standard-8", "n1-standard-4", "n2d-standard-8", "c3-standard-8", "g2-standard-8")
_SCAN_SECONDS = 10

#: Lists, each zone's, and quotas, each region's.
_MOST_STEADY = len(_ZONES) + len(_REGIONS)
_MOST_SHORT = _MOST_STEADY + _SHORT
#: Each group's machines and template, and each type in each zone.
_MOST_FIRST = _MOST_STEADY + 2 * _GROUPS + len(_TYPES) * len(_ZONES)


def fill(double: GceDouble, *, groups: int = _GROUPS, each: int = _EACH) -> None:
    """Make groups of all types in all zones, with *each* machines."""
    for number in range(groups):
        double.make_mig(
            f"{_PREFIX}{number:03}",
            zone=_ZONES[number % len(_ZONES)],
            machine_type=_TYPES[number // len(_ZONES) % len(_TYPES)],
            spot=number % 2 == 1,
            size=each,
            kube_env={"AUTOSCALER_ENV_VARS": f"os_distribution=cos;os=linux;node_labels=number={number}"},
        )


class Served:
    """The project in a process of its own: what serving it takes does not count."""

    def __init__(self) -> None:
        self.clock = SteppedClock()
        self._there, here = get_context("fork").Pipe()
        self._process = get_context("fork").Process(target=_serve, args=(here,), daemon=True)
        self._process.start()
        self.config, environment = self._there.recv()
        os.environ.update(environment)

    def calls(self) -> Counter[tuple[str, str]]:
        """Return all calls until now."""
        self._there.send(0)
        return Counter(self._there.recv())

    def advance(self, seconds: float) -> None:
        """Let time pass here and there."""
        self.clock.advance(seconds)
        self._there.send(seconds)
        self._there.recv()

    def run_short(self) -> None:
        """Let groups need a machine that does not come."""
        self._there.send(None)
        self._there.recv()

    def end(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.join()


def _serve(pipe: Connection) -> None:
    clock = SteppedClock()
    with GceDouble(clock=clock) as double:
        fill(double)
        double.boots(60)
        pipe.send((double.config(zones=_ZONES, discover=[{"namePrefix": _PREFIX, "max": 100}]), double.environment))
        while True:
            asked = pipe.recv()
            if asked is None:
                double.run_out()
                for number in range(_SHORT):
                    double.do("instance_group_managers", "resize", f"{_PREFIX}{number:03}", size=_EACH + 1)
            else:
                clock.advance(asked)
            pipe.send(double.calls)


def _read() -> Figure:
    logging.disable(logging.WARNING)
    served = Served()
    try:
        config = GceConfig.model_validate(served.config)
        provider = GceProvider(config, ProviderContext(clock=served.clock))
        first, first_calls = _loop(provider, served)
        # In one of them, a minute after the first, quotas are read anew.
        steady = [_loop(provider, served) for _ in range(RUNS + 1)]
        served.run_short()
        short, short_calls = _loop(provider, served)
        failed = sum(instance.error is not None for group in provider.groups() for instance in group.instances())
        provider.close()
    finally:
        served.end()
    assert failed == _SHORT, f"{failed} failures were found of {_SHORT}"
    seconds = median(time for time, _ in steady)
    calls = max((calls for _, calls in steady), key=Counter.total)
    rows = (
        ("first loop", first, first_calls, _MOST_FIRST),
        ("other loops", seconds, calls, _MOST_STEADY),
        (f"{_SHORT} groups short", short, short_calls, _MOST_SHORT),
    )
    return Figure(
        seconds=max(seconds, short),
        note=f"{calls.total()} calls for {_GROUPS * _EACH} machines of {_GROUPS} groups in {len(_ZONES)} zones",
        lines=[f"{name}: {duration(time)}, {_told(count)}" for name, time, count, _ in rows],
        wrong=[f"{name}: over {most} calls" for name, _, count, most in rows if count.total() > most],
    )


def _loop(provider: GceProvider, served: Served) -> tuple[float, Counter[tuple[str, str]]]:
    """CPU time of this process, which does not serve the answers, and the calls of one loop."""
    served.advance(_SCAN_SECONDS)
    before, began = served.calls(), process_time()
    provider.refresh()
    machines = 0
    for group in provider.groups():
        machines += len(group.instances())
        assert group.template() is not None, f"group {group.id} has no template"
        group.pools()
    seconds = process_time() - began
    assert machines >= _GROUPS * _EACH, f"only {machines} machines were found"
    return seconds, served.calls() - before


def _told(calls: Counter[tuple[str, str]]) -> str:
    return f"{calls.total()} calls: " + ", ".join(f"{count} {name}" for (_, name), count in sorted(calls.items()))


CASES = [Case(name="gce 5000", run=_read, bar=0.4)]
