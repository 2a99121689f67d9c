"""Shared by all tests of the core."""

import pytest
from nodewright.api import DaemonSet
from nodewright.objects.meta import ObjectMeta
from nodewright.objects.workload import DaemonSetSpec, PodTemplate
from nodewright.testing.builders import a_pod


@pytest.fixture
def a_daemon_set():
    """Builds a DaemonSet whose pods take *cpu*."""

    def build(name="agent", **fields):
        pod = a_pod(name, **fields)
        template = PodTemplate(spec=pod.spec)
        return DaemonSet(metadata=ObjectMeta(name=name, namespace="kube-system"), spec=DaemonSetSpec(template=template))

    return build
