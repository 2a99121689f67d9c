import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from nodewright.api import ConfigurationError
from nodewright.config.document import flags_to_yaml, load, to_yaml
from nodewright.config.flag_table import FLAGS
from nodewright.config.flags import parse_flags
from nodewright.config.model import Settings

#: Names that YAML readers like to take for something else.
WORDS = st.sampled_from(
    [
        "a",
        "1",
        "1.5",
        "1e3",
        "0o17",
        "0x1F",
        "010",
        "true",
        "null",
        "~",
        "no",
        "1:30",
        "2030-01-31",
        "- a",
        "a: b",
        "#a",
    ]
) | st.text(st.characters(codec="utf-8", exclude_characters=",", exclude_categories=("Cc", "Cs")), min_size=1).filter(
    lambda text: text == text.strip()
)
BY_TYPE = {
    "string": WORDS,
    "bool": st.sampled_from(["true", "false"]),
    "int": st.integers(1, 10**6).map(str),
    "float": st.floats(0.01, 50).map(str),
    "duration": st.integers(1, 10**10).map(lambda ms: f"{ms}ms"),
    "list": WORDS,
    "slice": st.lists(WORDS, max_size=3).map(",".join),
}
OBJECTS = st.sampled_from(["a", "1", "1.5", "0x1f", "010", "true", "null", "no", "2030-01-31"])
RANGE = st.integers(0, 9).map(lambda low: f"{low}:{low + 3}")
BY_NAME = {
    "cloud-provider": WORDS,
    "expander": st.permutations(["priority", "least-waste", "grpc"]).map(",".join),
    "nodes": st.integers(0, 9).flatmap(lambda low: WORDS.map(lambda name: f"{low}:{low + 2}:{name}")),
    "cores-total": RANGE,
    "memory-total": RANGE,
    "gpu-total": st.sampled_from(["t4:0:16", "v100:1:8"]),
    "drain-priority-config": st.sampled_from(["", "10000:20,0:60"]),
    "logging-format": st.sampled_from(["text", "json"]),
    "enable-dynamic-resource-allocation": st.just("true"),
    "leader-elect-resource-lock": st.just("leases"),
    "leader-elect-resource-name": OBJECTS,
    "status-config-map-name": OBJECTS,
    "namespace": st.sampled_from(["a", "1", "010", "true", "null", "no", "2030-01-31"]),
    "address": st.sampled_from([":8085", "1:30", "a:80", "[::1]:80"]),
    "kubernetes": st.sampled_from(["http://a", "https://[::1]:6443", "https://a/b"]),
    "user-agent": st.sampled_from(["a", "1", "- a", "a: b", "#a", "~"]),
}


@st.composite
def command_lines(draw):
    names = draw(st.lists(st.sampled_from(sorted(FLAGS)), max_size=12))
    return [f"--{name}={draw(BY_NAME.get(name, BY_TYPE[FLAGS[name].type]))}" for name in names]


@settings(max_examples=150, deadline=None)
@given(command_lines())
def test_the_yaml_for_flags_loads_as_the_same_settings(argv) -> None:
    flags = parse_flags(argv)
    try:
        expected = load(flags=flags).settings
    except ConfigurationError as error:
        told = [problem.message for problem in error.problems]
    else:
        assert load(flags_to_yaml(flags, expected, [])).settings == expected
        return
    # Refused is only what can't be meant together; every value by itself is right.
    assert not any("write" in message for message in told)
    reject()


#: A value that is not the default, by type or by name.
ANOTHER = {"string": "seven", "int": "7", "float": "7", "duration": "7s", "list": "seven", "slice": "six,seven"}
ANOTHER_FOR = {
    "address": ":7777",
    "kubernetes": "https://seven",
    "nodes": "1:7:seven",
    "parallel-scale-up": "false",
    "gpu-total": "seven:1:7",
    "cores-total": "1:7",
    "memory-total": "1:7",
    "drain-priority-config": "7:7",
    "logging-format": "json",
    "initial-node-group-backoff-duration": "7m",
    "max-node-group-backoff-duration": "7m",
    "provisioning-request-initial-backoff-time": "7m",
    "provisioning-request-max-backoff-time": "7m",
    "leader-elect-lease-duration": "17s",
    "leader-elect-retry-period": "7s",
}


@pytest.mark.parametrize("flag", [flag for flag in FLAGS.values() if flag.sets], ids=lambda flag: flag.name)
def test_every_flag_changes_its_setting_and_survives_as_yaml(flag) -> None:
    opposite = "false" if flag.default == "true" else "true"
    text = ANOTHER_FOR.get(flag.name) or (opposite if flag.type == "bool" else ANOTHER[flag.type])
    changed = load(flags=parse_flags([f"--{flag.name}={text}"])).settings
    assert changed != Settings()
    assert load(to_yaml(changed)).settings == changed
    setting = to_yaml(changed).splitlines()[2]
    assert setting.startswith(flag.sets.partition(".")[0])


def test_only_what_differs_from_the_default_is_written() -> None:
    flags = parse_flags(
        [
            "--cloud-provider=aws",
            "--nodes=1:10:asg-a",
            "--expander=priority,grpc",
            "--grpc-expander-url=host:7000",
            "--scan-interval=10s",
            "--scale-down-unneeded-time=5m",
            "--max-graceful-termination-sec=90",
            "--cores-total=0:100",
            "--memory-total=0:640",
            "--startup-taint=a",
            "--predicate-parallelism=8",
        ]
    )
    assert flags_to_yaml(flags, load(flags=flags).settings, ["a note"]) == (
        """\
# left out --predicate-parallelism: all equal pods are placed at once, on one thread
# a note
apiVersion: nodewright.dev/v1
kind: Autoscaler
providers:
  - aws
nodeGroups:
  - 1:10:asg-a
scaleUp:
  expanders:
    - priority
    - grpc:
        url: host:7000
scaleDown:
  unneededTime: 5m
  maxGracefulTermination: 1m30s
limits:
  cpu:
    max: '100'
  memory:
    max: 640Gi
templates:
  startupTaints:
    - a
"""
    )


def test_without_a_provider_the_yaml_says_what_is_missing() -> None:
    text = flags_to_yaml(parse_flags([]), Settings(), [])
    assert text.startswith("# no --cloud-provider was given: name one under providers\n")
    assert load(text).settings == Settings()
