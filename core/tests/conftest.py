"""Shared by all tests of the core."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from nodewright.api import DaemonSet
from nodewright.objects.meta import ObjectMeta
from nodewright.objects.workload import DaemonSetSpec, PodTemplate
from nodewright.testing.builders import a_pod
from nodewright.testing.distributions import Distributions


@pytest.fixture
def a_daemon_set():
    """Builds a DaemonSet whose pods take *cpu*."""

    def build(name="agent", **fields):
        pod = a_pod(name, **fields)
        template = PodTemplate(spec=pod.spec)
        return DaemonSet(metadata=ObjectMeta(name=name, namespace="kube-system"), spec=DaemonSetSpec(template=template))

    return build


@pytest.fixture
def install(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Install a throw-away distribution; see `Distributions.install`."""
    with Distributions(tmp_path) as distributions:
        yield distributions.install
