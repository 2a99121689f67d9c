"""What a pod asks for, by the scheduler's formula."""

import msgspec
import pytest
from nodewright.objects import Node, Pod, Taint, Toleration, untolerated


def pod(**spec):
    return msgspec.convert({"metadata": {"name": "p", "namespace": "n"}, "spec": spec}, Pod)


def container(cpu, **fields):
    return {"resources": {"requests": {"cpu": cpu}}, **fields}


@pytest.mark.parametrize(
    ("spec", "cpu"),
    [
        ({"containers": [container("1"), container("500m")]}, 1500),
        ({"containers": [container("1")], "initContainers": [container("3"), container("2")]}, 3000),
        ({"containers": [container("1")], "initContainers": [container("500m", restartPolicy="Always")]}, 1500),
        # A plain init container runs beside the sidecars that started before it.
        (
            {
                "containers": [container("1")],
                "initContainers": [container("1", restartPolicy="Always"), container("3")],
            },
            4000,
        ),
        ({"containers": [container("1")], "overhead": {"cpu": "250m"}}, 1250),
        ({"containers": [container("1")], "resources": {"requests": {"cpu": "5"}}}, 5000),
    ],
)
def test_requests_follow_the_schedulers_formula(spec, cpu) -> None:
    assert pod(**spec).requests == {"cpu": cpu, "pods": 1}


def test_unknown_fields_are_ignored_and_absent_ones_default() -> None:
    read = msgspec.json.decode(
        b'{"metadata": {"name": "p", "managedFields": [{}]}, "spec": {"new": {"field": 1}}}', type=Pod
    )
    assert (read.key, read.grace_seconds, read.status.phase) == ("p", 30, "Pending")


@pytest.mark.parametrize(
    ("conditions", "taints", "ready"),
    [
        ([{"type": "Ready", "status": "True"}], [], True),
        ([{"type": "Ready", "status": "False"}], [], False),
        ([], [], False),
        ([{"type": "Ready", "status": "True"}, {"type": "DiskPressure", "status": "True"}], [], False),
        ([{"type": "Ready", "status": "True"}, {"type": "MemoryPressure", "status": "True"}], [], True),
        (
            [{"type": "Ready", "status": "True"}],
            [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}],
            False,
        ),
    ],
)
def test_a_node_is_ready_as_cluster_autoscaler_sees_it(conditions, taints, ready) -> None:
    node = msgspec.convert({"spec": {"taints": taints}, "status": {"conditions": conditions}}, Node)
    assert node.ready is ready


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        (Toleration(key="k", value="v"), True),
        (Toleration(key="k", value="other"), False),
        (Toleration(key="k", operator="Exists"), True),
        (Toleration(operator="Exists"), True),
        (Toleration(key="k", operator="Exists", effect="NoExecute"), False),
        (Toleration(key="other", operator="Exists"), False),
    ],
)
def test_tolerations(toleration, tolerated) -> None:
    taint = Taint(key="k", value="v", effect="NoSchedule")
    assert untolerated((taint,), (toleration,)) == (None if tolerated else taint)


def test_a_preference_repels_nobody() -> None:
    assert untolerated((Taint(key="k", effect="PreferNoSchedule"),), ()) is None
