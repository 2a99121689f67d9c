"""The real process keeps up with a cluster that is always on the move."""

import sys
from pathlib import Path
from statistics import median

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.live import measure


@pytest.mark.skipif(sys.platform != "linux", reason="what a process takes is read as Linux tells it")
def test_a_hundred_nodes_with_three_thousand_pods_take_little() -> None:
    found = measure(100, rate=100, seconds=3, samples=2, rest=0, pause=0.5)
    assert found.start < 30
    assert found.peak < 250e6
    assert found.share < 0.8
    assert median(found.waits) < 5
