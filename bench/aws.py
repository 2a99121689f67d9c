"""A large region of AWS: how many calls a loop makes, and the CPU time of reading."""

import logging
import os
from collections import Counter
from statistics import median
from time import thread_time
from typing import Any

from nodewright.api import ProviderContext
from nodewright.testing.clock import SteppedClock
from nodewright_aws.config import AwsConfig
from nodewright_aws.provider import AwsProvider
from nodewright_aws.testing import AwsDouble

from bench.measure import RUNS, Case, Figure, duration

_GROUPS, _EACH = 200, 25
_SHORT = 20
_TAG = "k8s.io/cluster-autoscaler/enabled"
_TYPES = ("m5.large", "m5.xlarge", "c5.large", "c5.xlarge", "r5.large", "m6g.large", "g4dn.xlarge", "c6i.2xlarge")
_SCAN_SECONDS = 10
#: The machines have been there for a while.
_AGE_SECONDS = 86_400

_MOST_FIRST, _MOST_STEADY, _MOST_SHORT = 10, 2, 4


def fill(double: AwsDouble, *, groups: int = _GROUPS, each: int = _EACH) -> None:
    """Make groups of all types, with *each* machines."""
    for number in range(groups):
        kinds: tuple[dict[str, Any], ...] = (
            {},
            {"types": (_TYPES[number % 4], _TYPES[(number + 1) % 4]), "on_demand_percent": 50},
            {"spot": True},
            {"launch_configuration": {}},
        )
        double.make_group(
            f"group-{number:03}",
            instance_type=_TYPES[number % len(_TYPES)],
            desired=each,
            max_size=2 * each,
            tags={_TAG: "true", "k8s.io/cluster-autoscaler/node-template/label/number": str(number)},
            **kinds[number % len(kinds)],
        )


def _read() -> Figure:
    logging.disable(logging.WARNING)
    clock = SteppedClock()
    with AwsDouble(clock=clock) as double:
        os.environ.update(double.environment)
        fill(double)
        clock.advance(_AGE_SECONDS)
        config = AwsConfig.model_validate(double.config(discover=[{"tags": {_TAG: None}}]))
        provider = AwsProvider(config, ProviderContext(clock=clock))
        first, first_calls = _loop(provider, double)
        steady = [_loop(provider, double) for _ in range(RUNS)]
        double.run_out()
        for number in range(_SHORT):
            double.do(
                "autoscaling",
                "set_desired_capacity",
                AutoScalingGroupName=f"group-{number:03}",
                DesiredCapacity=_EACH + 1,
            )
        short, short_calls = _loop(provider, double)
        failed = sum(instance.error is not None for group in provider.groups() for instance in group.instances())
        provider.close()
    assert failed == _SHORT, f"{failed} failures were found of {_SHORT}"
    seconds = median(time for time, _ in steady)
    calls = max((calls for _, calls in steady), key=Counter.total)
    rows = (
        ("first loop", first, first_calls, _MOST_FIRST),
        ("other loops", seconds, calls, _MOST_STEADY),
        (f"{_SHORT} groups short", short, short_calls, _MOST_SHORT),
    )
    return Figure(
        seconds=seconds,
        note=f"{calls.total()} calls for {_GROUPS * _EACH} machines of {_GROUPS} groups",
        lines=[f"{name}: {duration(time)}, {_told(count)}" for name, time, count, _ in rows],
        wrong=[f"{name}: over {most} calls" for name, _, count, most in rows if count.total() > most],
    )


def _loop(provider: AwsProvider, double: AwsDouble) -> tuple[float, Counter[tuple[str, str]]]:
    """CPU time of this thread, which does not serve the answers, and the calls of one loop."""
    double.clock.advance(_SCAN_SECONDS)  # type: ignore[attr-defined]
    before, began = double.calls.copy(), thread_time()
    provider.refresh()
    machines = 0
    for group in provider.groups():
        machines += len(group.instances())
        assert group.template() is not None, f"group {group.id} has no template"
        group.pools()
    seconds = thread_time() - began
    assert machines >= _GROUPS * _EACH, f"only {machines} machines were found"
    return seconds, double.calls - before


def _told(calls: Counter[tuple[str, str]]) -> str:
    return f"{calls.total()} calls: " + ", ".join(f"{count} {name}" for (_, name), count in sorted(calls.items()))


CASES = [Case(name="aws 5000", run=_read, bar=1.0)]
