"""What tags say about new nodes, in Cluster Autoscaler's formats."""

from datetime import timedelta

import pytest
from nodewright.api import GroupOptions, Taint
from nodewright_aws.templates.tags import read_tags

TAG = "k8s.io/cluster-autoscaler/node-template"


def test_tags_of_others_mean_nothing() -> None:
    read = read_tags({"Name": "workers", "k8s.io/cluster-autoscaler/enabled": "true", "eks:nodegroup-name": "workers"})
    assert (read.labels, read.taints, read.resources, read.options, read.mistakes) == ({}, (), {}, {}, ())


def test_labels_may_have_slashes_in_their_names_and_no_value() -> None:
    read = read_tags({f"{TAG}/label/example.com/team": "web", f"{TAG}/label/spare": ""})
    assert read.labels == {"example.com/team": "web", "spare": ""}
    assert read.mistakes == ()


@pytest.mark.parametrize(
    ("text", "value", "effect"),
    [
        ("true:NoSchedule", "true", "NoSchedule"),
        (":NoExecute", "", "NoExecute"),
        ("a.b:PreferNoSchedule", "a.b", "PreferNoSchedule"),
    ],
)
def test_taints_are_written_value_colon_effect(text, value, effect) -> None:
    read = read_tags({f"{TAG}/taint/example.com/gpu": text})
    assert read.taints == (Taint(key="example.com/gpu", value=value, effect=effect),)


def test_amounts_are_quantities() -> None:
    read = read_tags(
        {
            f"{TAG}/resources/cpu": "1500m",
            f"{TAG}/resources/ephemeral-storage": "100G",
            f"{TAG}/resources/memory": "1Gi",
            f"{TAG}/resources/nvidia.com/gpu": "4",
        }
    )
    assert read.resources == {
        "cpu": 1500,
        "ephemeral-storage": 100 * 10**9,
        "memory": 1024**3,
        "nvidia.com/gpu": 4,
    }


def test_every_option_of_a_group_has_a_tag() -> None:
    texts = {
        "scaledownutilizationthreshold": "0.3",
        "scaledowngpuutilizationthreshold": "0.7",
        "scaledownunneededtime": "1h30m",
        "scaledownunreadytime": "0",
        "maxnodeprovisiontime": "5m",
        "maxnodestartuptime": "90s",
        "ignoredaemonsetsutilization": "T",
        "zeroormaxnodescaling": "true",
        "allownonatomicscaleuptomax": "false",
    }
    read = read_tags({f"{TAG}/autoscaling-options/{option}": text for option, text in texts.items()})
    assert read.mistakes == ()
    assert read.options == {
        "scale_down_utilization_threshold": 0.3,
        "scale_down_gpu_utilization_threshold": 0.7,
        "scale_down_unneeded_time": timedelta(minutes=90),
        "scale_down_unready_time": timedelta(0),
        "max_node_provision_time": timedelta(minutes=5),
        "max_node_startup_time": timedelta(seconds=90),
        "ignore_daemonsets_utilization": True,
        "zero_or_max_node_scaling": True,
        "allow_non_atomic_scale_up_to_max": False,
    }
    assert read.options.keys() == vars(GroupOptions()).keys()


@pytest.mark.parametrize(
    ("tag", "value", "mistake"),
    [
        ("taint/gpu", "true", "write value:effect, such as true:NoSchedule, with one of NoSchedule, NoExecute"),
        ("taint/gpu", "true:NoScheduling", "write value:effect"),
        ("taint/gpu", "a b:NoSchedule", "this is no value of a label"),
        ("label/team", "web & mail", "this is no value of a label: write up to 63 letters"),
        ("label/team", "x" * 64, "this is no value of a label"),
        ("label/", "web", "there is no name after its last slash"),
        ("resources/cpu", "much", "cpu: 'much' is not a quantity"),
        ("resources/memory", "-1Gi", "an amount can't be negative"),
        ("autoscaling-options/scaledownutilizationthreshold", "half", "write a number from 0 to 1"),
        ("autoscaling-options/scaledownutilizationthreshold", "nan", "write a number from 0 to 1"),
        ("autoscaling-options/scaledownutilizationthreshold", "50", "write a number from 0 to 1"),
        ("autoscaling-options/scaledownunneededtime", "10", "write a duration such as 10m"),
        ("autoscaling-options/scaledownunneededtime", "-10m", "a time can't be negative"),
        ("autoscaling-options/ignoredaemonsetsutilization", "yes", "write true or false"),
        (
            "autoscaling-options/scaledownuneededtime",
            "10m",
            "there is no such option: did you mean scaledownunneededtime?",
        ),
        ("autoscaling-options/colour", "red", "there is no such option: use one of scaledownutilizationthreshold"),
        ("labels/team", "web", "'labels' is unknown: write label"),
    ],
)
def test_what_can_t_be_understood_is_ignored_and_told(tag, value, mistake) -> None:
    read = read_tags({f"{TAG}/{tag}": value, f"{TAG}/label/good": "yes"})
    assert (dict(read.labels), read.taints, read.resources, read.options) == ({"good": "yes"}, (), {}, {})
    (told,) = read.mistakes
    assert told.startswith(f"tag {TAG}/{tag} with the value {value!r} is ignored: {mistake}")
