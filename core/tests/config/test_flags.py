import pytest
from nodewright.api import ConfigurationError, GroupSpec
from nodewright.config.document import load
from nodewright.config.flag import Flag
from nodewright.config.flags import parse_flags


def settings(*argv):
    return load(flags=parse_flags(argv)).settings


def refusals(*argv):
    with pytest.raises(ConfigurationError) as caught:
        load(flags=parse_flags(argv))
    return str(caught.value).splitlines()


@pytest.mark.parametrize(
    "argv",
    [
        ["--scan-interval=90s"],
        ["-scan-interval=90s"],
        ["--scan-interval", "1m30s"],
        ["-scan-interval", "1.5m"],
        ["--scan_interval=90s"],
        ["--scan-interval=5s", "--scan-interval=90s"],
    ],
)
def test_a_flag_is_written_as_in_go(argv) -> None:
    assert settings(*argv).loop.scan_interval.total_seconds() == 90


@pytest.mark.parametrize(
    ("argv", "cordon"),
    [
        (["--cordon-node-before-terminating"], True),
        (["--cordon-node-before-terminating=false"], False),
        (["--cordon-node-before-terminating=F"], False),
        (["--cordon-node-before-terminating=1"], True),
        (["--cordon-node-before-terminating=false", "--cordon-node-before-terminating"], True),
    ],
)
def test_a_switch_needs_no_value(argv, cordon) -> None:
    assert settings(*argv).scale_down.cordon is cordon


def test_a_switch_does_not_take_the_next_word() -> None:
    flags = parse_flags(["--cordon-node-before-terminating", "false"], words=1)
    assert flags.given[0].value is True
    assert flags.words == ("false",)


def test_other_flags_take_the_next_word_even_if_it_looks_like_a_flag() -> None:
    assert settings("--expendable-pods-priority-cutoff", "-7").scale_up.expendable_priority_cutoff == -7


@pytest.mark.parametrize(("text", "number"), [("10", 10), ("0x10", 16), ("010", 8), ("0b11", 3), ("+3", 3)])
def test_whole_numbers_are_written_as_in_go(text, number) -> None:
    assert settings(f"--max-nodes-total={text}").limits.nodes.max == number


def test_node_groups_and_discovery_may_be_given_many_times() -> None:
    result = settings(
        "--nodes=1:10:https://www.googleapis.com/zones/a/instanceGroups/b",
        "--nodes=0:3:two",
        "--node-group-auto-discovery=asg:tag=a,b",
        "--node-group-auto-discovery=asg:tag=c",
    )
    assert result.node_groups == (
        GroupSpec(name="https://www.googleapis.com/zones/a/instanceGroups/b", min_size=1, max_size=10),
        GroupSpec(name="two", min_size=0, max_size=3),
    )
    assert result.discovery == ("asg:tag=a,b", "asg:tag=c")


def test_commas_part_names_only_where_cluster_autoscaler_parts_them() -> None:
    result = settings(
        "--expander=random", "--expander=priority,least-waste", "--bypassed-scheduler-names=a,b",
        "--bypassed-scheduler-names=c", "--status-taint=x,y", "--status-taint=z",
    )  # fmt: skip
    assert [expander.name for expander in result.scale_up.expanders] == ["priority", "least-waste"]
    assert result.scale_up.bypassed_schedulers == ("a", "b", "c")
    assert result.templates.status_taints == ("x,y", "z")


def test_both_names_of_startup_taints_add_up() -> None:
    assert settings("--startup-taint=a", "--ignore-taint=b").templates.startup_taints == ("a", "b")


def test_ranges_set_both_ends() -> None:
    limits = settings(
        "--cores-total=4:100", "--memory-total=1:640", "--gpu-total=t4:0:16", "--gpu-total=v100:1:8"
    ).limits
    assert (limits.cpu.min, limits.cpu.max) == (4_000, 100_000)
    assert (limits.memory.min, limits.memory.max) == (1024**3, 640 * 1024**3)
    assert [(gpu.type, gpu.min, gpu.max) for gpu in limits.gpus] == [("t4", 0, 16), ("v100", 1, 8)]


def test_graces_are_seconds() -> None:
    assert settings("--max-graceful-termination-sec=45").scale_down.max_graceful_termination.total_seconds() == 45
    priorities = settings("--drain-priority-config=10000:20,-5:60").scale_down.drain_priorities
    assert [(each.priority, each.max_graceful_termination.total_seconds()) for each in priorities] == [
        (10000, 20),
        (-5, 60),
    ]


def test_a_flag_of_one_provider_becomes_a_setting_of_its_plugin() -> None:
    result = settings("--regional", "--cloud-provider=gce", "--cloud-config=/etc/gce.conf")
    assert result.providers[0].config == {"regional": True, "cloudConfig": "/etc/gce.conf"}


def test_a_flag_of_one_expander_becomes_a_setting_of_its_plugin(write) -> None:
    path = write("scaleUp: {expanders: [random-ish, {grpc: {certificate: a.pem}}]}")
    result = load(path, flags=parse_flags(["--grpc-expander-url=host:7000"])).settings
    assert [reference.written() for reference in result.scale_up.expanders] == [
        "random-ish",
        {"grpc": {"certificate": "a.pem", "url": "host:7000"}},
    ]


def test_flags_without_effect_are_warnings_unless_they_say_the_default() -> None:
    flags = parse_flags(
        ["--predicate-parallelism=8", "--scale-down-candidates-pool-ratio=1", "--regional", "--stderrthreshold=INFO",
         "--cloud-provider=cloud", "--enable-provisioning-requests"]
    )  # fmt: skip
    assert "\n".join(map(str, load(flags=flags).warnings)) == (
        "flags: --predicate-parallelism: has no effect: all equal pods are placed at once, on one thread\n"
        "flags: --scale-down-candidates-pool-ratio: has no effect, here or in Cluster Autoscaler: "
        "all nodes are examined\n"
        "flags: --regional: has no effect: gce is not among providers\n"
        "flags: --enable-provisioning-requests: accepted, but not in effect in this version: "
        "ProvisioningRequest objects"
    )


def test_all_mistakes_are_told_at_once() -> None:
    assert refusals(
        "--scan-intervall=5s",
        "--max-empty-bulk-delete=3",
        "--xyzzy", "swallowed",
        "--cordon-node-before-terminating=maybe",
        "--max-nodes-total=many",
        "--max-nodes-per-scaleup=-1",
        "--scale-down-utilization-threshold=half",
        "--scan-interval=10",
        "--max-inactivity=-1m",
        "--cores-total=5",
        "--memory-total=9:1",
        "--gpu-total=t4:9:1",
        "--gpu-total=16",
        "--drain-priority-config=high:1",
        "--enable-dynamic-resource-allocation=false",
        "--leader-elect-resource-lock=endpoints",
        "--dry-run=perhaps",
        "--nodes=workers",
        "--nodes=3:1:workers",
        "--logging-format=jsno",
        "surplus",
        "--v",
    ) == [
        "flags: --scan-intervall: unknown flag; did you mean --scan-interval?",
        "flags: --max-empty-bulk-delete: removed from Cluster Autoscaler; use --max-scale-down-parallelism",
        "flags: --xyzzy: unknown flag",
        "flags: --v: needs a value",
        'flags: --cordon-node-before-terminating: write true or false, not "maybe"',
        'flags: --max-nodes-total: write a whole number, not "many"',
        'flags: --scale-down-utilization-threshold: write a number, not "half"',
        'flags: --scan-interval: write a duration such as 10m or 1h30m (units: h, m, s, ms), not "10"',
        'flags: --cores-total: write min:max, such as 0:320000, not "5"',
        'flags: --gpu-total: write type:min:max, such as nvidia-tesla-t4:0:16, not "16"',
        'flags: --drain-priority-config: write priority:seconds,..., such as 10000:20,0:60, not "high:1"',
        "flags: --enable-dynamic-resource-allocation: must be true: as in Cluster Autoscaler, it can't be turned off",
        "flags: --leader-elect-resource-lock: must be leases: no other kind of lock is supported",
        'flags: --dry-run: write true or false, not "perhaps"',
        'flags: "surplus" is not expected here',
        "flags: --nodes: write a node group as min:max:name, such as 1:10:workers",
        "flags: --nodes: the minimum 3 is above the maximum 1",
        "flags: --max-inactivity: must not be negative",
        "flags: --max-nodes-per-scaleup: must be at least 0, not -1",
        'flags: --logging-format: must be one of text, json, not "jsno"; did you mean json?',
        "flags: --memory-total: the minimum 9Gi is above the maximum 1Gi",
    ]  # fmt: skip


def test_flags_win_over_the_file(write) -> None:
    path = write("scaleDown: {unneededTime: 5m, unreadyTime: 6m}\nscaleUp: {expanders: [a, b]}\n")
    loaded = load(path, flags=parse_flags(["--scale-down-unneeded-time=7m", "--expander=c"]))
    assert loaded.settings.scale_down.unneeded_time.total_seconds() == 7 * 60
    assert loaded.settings.scale_down.unready_time.total_seconds() == 6 * 60
    assert [expander.name for expander in loaded.settings.scale_up.expanders] == ["c"]


def test_a_flag_mends_a_wrong_value_in_the_file_but_not_a_wrong_section(write) -> None:
    path = write("loop: {scanInterval: often}\nscaleDown: off\n")
    with pytest.raises(ConfigurationError) as caught:
        load(path, flags=parse_flags(["--scan-interval=5s", "--scale-down-enabled=false"]))
    assert str(caught.value) == f"{path}:4: scaleDown: write its settings below it, as key: value"


def test_a_command_may_have_flags_of_its_own() -> None:
    flags = parse_flags(["-o", "json", "file", "--config=a.yaml", "--v=2"], own=[Flag("o", "string", "table")], words=1)
    assert flags.own == {"o": "json", "config": "a.yaml"}
    assert str(flags.config) == "a.yaml"
    assert flags.words == ("file",)
    assert [each.flag.name for each in flags.given] == ["v"]


def test_after_two_dashes_nothing_is_a_flag() -> None:
    assert parse_flags(["--v=1", "--", "--v=2"], words=1).words == ("--v=2",)
