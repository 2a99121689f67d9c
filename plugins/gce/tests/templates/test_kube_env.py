"""Reading ``kube-env`` in all its spellings."""

from datetime import timedelta

import pytest
from nodewright.api import Taint
from nodewright_gce.config.templates import OsDistribution
from nodewright_gce.templates.kube_env import read_kube_env

MIB, GIB = 1024**2, 1024**3

VARIABLES = ";".join(
    (
        "kube_reserved=cpu=70m,memory=1019Mi,ephemeral-storage=41Gi",
        "node_labels=cloud.google.com/gke-nodepool=pool-1,cloud.google.com/gke-max-pods-per-node=32",
        "node_taints=gpu=true:NoSchedule,dedicated=ml:NoExecute",
        "arch=amd64",
        "os=linux",
        "os_distribution=cos",
        "evictionHard=memory.available=200Mi,nodefs.available=5%,pid.available=10%",
        "ephemeral_storage_local_ssd_count=2",
        "",
    )
)
OF_GKE = f"""\
ALLOCATE_NODE_CIDRS: "true"
AUTOSCALER_ENV_VARS: {VARIABLES}
CA_CERT: LS0tLS1CRUdJTi
KUBELET_ARGS: --v=2 --cloud-provider=gce --kube-reserved=cpu=1m
NODE_LABELS: not=used
"""


def test_the_variables_of_gke_say_what_a_node_is() -> None:
    env = read_kube_env(OF_GKE)
    assert env.labels == {
        "cloud.google.com/gke-nodepool": "pool-1",
        "cloud.google.com/gke-max-pods-per-node": "32",
    }
    assert env.taints == (
        Taint(key="gpu", value="true", effect="NoSchedule"),
        Taint(key="dedicated", value="ml", effect="NoExecute"),
    )
    assert env.kube_reserved == {"cpu": 70, "memory": 1019 * MIB, "ephemeral-storage": 41 * GIB}
    assert (env.eviction["memory.available"], env.eviction["nodefs.available"]) == ("200Mi", "5%")
    assert env.distribution is OsDistribution.COS
    assert env.storage_ssds == 2
    assert env.max_pods == 32
    assert env.gke
    assert env.mistakes == ()


def test_without_variables_the_older_entries_count() -> None:
    env = read_kube_env(
        "NODE_LABELS: a=b,c=d\n"
        "NODE_TAINTS: 'a=b:NoSchedule'\n"
        'KUBELET_TEST_ARGS: "--v=2 --kube-reserved=cpu=1060m,memory=1019Mi --eviction-hard=memory.available<250Mi '
        '--system-reserved=memory=64Mi --max-pods=32"\n'
    )
    assert env.labels == {"a": "b", "c": "d"}
    assert env.taints == (Taint(key="a", value="b", effect="NoSchedule"),)
    assert env.kube_reserved == {"cpu": 1060, "memory": 1019 * MIB}
    assert env.system_reserved == {"memory": 64 * MIB}
    assert env.eviction == {"memory.available": "250Mi"}
    assert env.max_pods == 32
    assert env.distribution is None


@pytest.mark.parametrize(
    "text",
    [
        "AUTOSCALER_ENV_VARS: node_labels=a=b;os=linux",
        'AUTOSCALER_ENV_VARS: "node_labels=a=b;os=linux;"',
        "AUTOSCALER_ENV_VARS: 'node_labels=a=b; os = linux'",
        "AUTOSCALER_ENV_VARS: node_labels='a=b';os=\"linux\"",
        "AUTOSCALER_ENV_VARS: |\n  node_labels=a=b;\n  os=linux;\n",
        "AUTOSCALER_ENV_VARS: >-\n  node_labels=a=b;os=linux",
        "---\nAUTOSCALER_ENV_VARS:   node_labels= a=b ;os=linux\nOTHER: {x: 1}\n",
        "AUTOSCALER_ENV_VARS: node_labels=a=b;;os=linux;\r\n",
    ],
)
def test_all_ways_to_quote_are_read(text) -> None:
    env = read_kube_env(text)
    assert (env.labels, env.os, env.mistakes) == ({"a": "b"}, "linux", ())


@pytest.mark.scenario(29)
def test_a_malformed_part_is_told_and_the_rest_is_used() -> None:
    env = read_kube_env(
        "AUTOSCALER_ENV_VARS: os_distribution=ubuntu;nonsense;node_labels=a=b,c;node_taints=x=y:NoSchedule"
    )
    assert env.distribution is OsDistribution.UBUNTU
    assert env.labels == {"a": "b"}
    assert env.taints == (Taint(key="x", value="y", effect="NoSchedule"),)
    assert env.mistakes == (
        "kube-env, AUTOSCALER_ENV_VARS: 'nonsense' is ignored: write name=value",
        "kube-env, node_labels: 'c' is ignored: write key=value",
    )


def test_text_that_is_no_yaml_is_read_line_by_line() -> None:
    env = read_kube_env('BROKEN: \'a\nAUTOSCALER_ENV_VARS: "node_labels=a=b"\nOTHER: [\n')
    assert env.labels == {"a": "b"}
    assert env.mistakes[0].startswith("kube-env: it is no YAML, so it is read line by line: ")


def test_lines_may_end_as_on_windows() -> None:
    env = read_kube_env('BROKEN: %a\r\nNODE_LABELS: a=b\r\nNODE_TAINTS: "x=y:NoSchedule"\r\n')
    assert env.labels == {"a": "b"}
    assert [taint.key for taint in env.taints] == ["x"]


@pytest.mark.parametrize("text", ["just words", "- a\n- b\n"])
def test_text_without_names_is_ignored_and_told(text) -> None:
    assert read_kube_env(text).mistakes == ("kube-env: it is ignored, as it is no YAML with names and values",)


def test_no_kube_env_says_nothing() -> None:
    env = read_kube_env("")
    assert (env.labels, env.taints, env.kube_reserved, env.mistakes) == ({}, (), None, ())


@pytest.mark.scenario(30)
def test_a_taint_is_key_value_and_effect() -> None:
    env = read_kube_env("AUTOSCALER_ENV_VARS: node_taints=a=b:NoSchedule,c:NoExecute,d=:PreferNoSchedule")
    assert [str(taint) for taint in env.taints] == ["a=b:NoSchedule", "c:NoExecute", "d:PreferNoSchedule"]


@pytest.mark.parametrize("taint", ["a=b", "a=b:Never", "=b:NoSchedule", "a=b c:NoSchedule"])
def test_a_taint_that_is_none_is_told(taint) -> None:
    env = read_kube_env(f"AUTOSCALER_ENV_VARS: node_taints={taint}")
    assert env.taints == ()
    assert env.mistakes[0].startswith(f"kube-env, node_taints: {taint!r} is ignored: ")


def test_resources_are_extended_ones_and_those_in_labels() -> None:
    env = read_kube_env(
        "AUTOSCALER_ENV_VARS: extended_resources=google.com/tpu=4;"
        "node_labels=a=b,clusterautoscaler-nodetemplate-resources.example.com/card=2"
    )
    assert env.resources == {"google.com/tpu": 4, "example.com/card": 2}
    assert env.labels == {"a": "b"}


def test_options_have_cluster_autoscalers_names() -> None:
    env = read_kube_env(
        "AUTOSCALER_ENV_VARS: autoscaling_options=scaledownutilizationthreshold=0.4,scaledownunneededtime=5m,"
        "maxnodeprovisiontime=soon,scaledownuneededtime=1m"
    )
    assert env.options == {
        "scale_down_utilization_threshold": 0.4,
        "scale_down_unneeded_time": timedelta(minutes=5),
    }
    assert len(env.mistakes) == 2
    assert "did you mean scaledownunneededtime?" in env.mistakes[1]


@pytest.mark.parametrize(
    "text", ["AUTOSCALER_ENV_VARS: BLOCK_EPH_STORAGE_BOOT_DISK=true", "BLOCK_EPH_STORAGE_BOOT_DISK: true"]
)
def test_the_boot_disk_may_be_kept_from_pods(text) -> None:
    assert read_kube_env(text).boot_disk_blocked


@pytest.mark.parametrize(
    ("name", "distribution"),
    [
        ("cos", OsDistribution.COS),
        ("cos_containerd", OsDistribution.COS),
        ("ubuntu_containerd", OsDistribution.UBUNTU),
        ("flatcar", OsDistribution.OTHER),
    ],
)
def test_older_names_of_distributions_are_known(name, distribution) -> None:
    assert read_kube_env(f"AUTOSCALER_ENV_VARS: os_distribution={name}").distribution is distribution


def test_what_kubelets_are_told_last_counts() -> None:
    env = read_kube_env("KUBELET_ARGS: --max-pods=110 --max-pods 64 --max-pods-per-core=3")
    assert env.max_pods == 64


@pytest.mark.parametrize("threshold", ["memory.available=lots", "memory.available=-1", "nodefs.available=-5%"])
def test_a_threshold_that_is_none_is_told(threshold) -> None:
    env = read_kube_env(f"AUTOSCALER_ENV_VARS: evictionHard={threshold}")
    assert env.eviction == {}
    assert len(env.mistakes) == 1
