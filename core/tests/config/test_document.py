import pytest
from nodewright.api import ConfigurationError
from nodewright.config.document import load
from nodewright.config.flags import parse_flags
from nodewright.config.model import Settings
from nodewright.config.paths import planned
from nodewright.config.reference import Reference
from nodewright.config.tree import read_yaml


def warnings(path, *argv):
    return [str(each).removeprefix(str(path)) for each in load(path, flags=parse_flags(argv)).warnings]


def test_without_a_file_and_flags_everything_has_its_default() -> None:
    loaded = load()
    assert loaded.settings == Settings()
    assert str(loaded.origins.of("scaleDown.unneededTime")) == "default"


def test_text_is_loaded_like_a_file() -> None:
    text = "apiVersion: nodewright.dev/v1\nkind: Autoscaler\nseed: x\n"
    with pytest.raises(ConfigurationError) as caught:
        load(text, name="the ConfigMap")
    assert str(caught.value) == 'the ConfigMap:3: seed: write a whole number, not "x"'


def test_a_file_that_is_missing_or_no_text_is_named(tmp_path) -> None:
    path = tmp_path / "none.yaml"
    with pytest.raises(ConfigurationError) as caught:
        load(path, flags=parse_flags(["--v=x"]))
    assert str(caught.value).splitlines() == [
        f"{path}: can't be read: No such file or directory",
        'flags: --v: write a whole number, not "x"',
    ]
    path.write_bytes(b"kind: \xff\xfe")
    with pytest.raises(ConfigurationError, match=r"none\.yaml: is not UTF-8 text"):
        load(path)


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path) -> None:
    path = tmp_path / "windows.yaml"
    path.write_bytes("\ufeffapiVersion: nodewright.dev/v1\r\nkind: Autoscaler\r\nseed: 3\r\n".encode())
    assert load(path).settings.seed == 3


def test_plugins_are_named_with_or_without_settings_and_know_their_place(write) -> None:
    path = write(
        """
providers:
  - aws: {region: eu-west-1, tags: {owned: null}}
  - fake
scaleUp:
  estimator: {binpacking: {}}
  expanders: priority, least-waste
hooks: [{log: }]
"""
    )
    settings = load(path).settings
    assert settings.providers == (
        Reference(name="aws", config={"region": "eu-west-1", "tags": {"owned": None}}),
        Reference(name="fake"),
    )
    assert [provider.path for provider in settings.providers] == [("providers", 0), ("providers", 1)]
    assert settings.scale_up.estimator == Reference(name="binpacking")
    assert [expander.name for expander in settings.scale_up.expanders] == ["priority", "least-waste"]
    assert settings.scale_up.expanders[0].path == ("scaleUp", "expanders")
    assert settings.scale_up.estimator.path == ("scaleUp", "estimator")
    assert settings.hooks == (Reference(name="log"),)


def test_quantities_are_exact(write) -> None:
    limits = load(write("limits: {cpu: {min: 0.5, max: 4k}, memory: {min: 1.5Gi, max: 2e12}}")).settings.limits
    assert (limits.cpu.min, limits.cpu.max) == (500, 4_000_000)
    assert (limits.memory.min, limits.memory.max) == (3 * 2**29, 2 * 10**12)


def test_a_key_without_a_value_is_as_good_as_none(write) -> None:
    loaded = load(write("scaleDown:\n  # unneededTime: 5m\nproviders:\nloop: {frequent: null}\n"))
    assert loaded.settings == Settings()
    assert str(loaded.origins.of("loop.frequent")) == "default"


def test_yes_no_and_dates_are_plain_text(write) -> None:
    settings = load(write("cluster: no\nnamespace: 2030-01-31\ndiscovery: [on, 1:30, 0o17x]")).settings
    assert (settings.cluster, settings.namespace) == ("no", "2030-01-31")
    assert settings.discovery == ("on", "1:30", "0o17x")


def test_every_value_knows_where_it_came_from(write) -> None:
    path = write(
        """
scaleDown:
  unneededTime: 5m
  unreadyTime: 9m
limits:
  cpu: {min: 5, max: 10}
  memory: {max: 5Gi}
groups:
  - match: "spot-*"
    scaleDown: {unneededTime: 2m}
"""
    )
    origins = load(path, flags=parse_flags(["--scale-down-unready-time=8m", "--cores-total=6:9"])).origins
    assert {
        name: str(origins.of(name)).replace(str(path), "file")
        for name in (
            "scaleDown.unneededTime",
            "scaleDown.unreadyTime",
            "scaleDown.cordon",
            "limits.cpu.min",
            "limits.memory.max",
            "limits.memory.min",
            "groups[0].scaleDown.unneededTime",
            "groups[1].match",
        )
    } == {
        "scaleDown.unneededTime": "file:5",
        "scaleDown.unreadyTime": "flag --scale-down-unready-time",
        "scaleDown.cordon": "default",
        "limits.cpu.min": "flag --cores-total",
        "limits.memory.max": "file:9",
        "limits.memory.min": "default",
        "groups[0].scaleDown.unneededTime": "file:12",
        "groups[1].match": "default",
    }


def test_a_setting_that_is_not_in_effect_is_a_warning_only_if_it_is_no_default(write) -> None:
    path = write("capacityBuffers: {controller: true, podDryRun: true}\nprovisioningRequests:\n  enabled: true\n")
    idle = "accepted, but not in effect in this version"
    assert warnings(path, "--enable-graceful-degradation", "--scale-up-from-zero=false") == [
        f":3: capacityBuffers.controller: {idle}: CapacityBuffer objects",
        f":5: provisioningRequests.enabled: {idle}: ProvisioningRequest objects",
        f"flags: --enable-graceful-degradation: {idle}: graceful degradation",
    ]


def test_a_section_that_is_planned_covers_all_in_it() -> None:
    assert planned(("provisioningRequests", "checkCapacity", "batch")) == "ProvisioningRequest objects"
    assert planned(("scaleUp", "fromZero")) is None


def test_what_is_most_likely_not_meant_is_a_warning(write) -> None:
    path = write(
        """
scaleDown: {utilizationThreshold: 50}
groups:
  - match: "spot-*"
  - match: "*"
    allowNonAtomicScaleUpToMax: true
    scaleDown: {unneededTime: 1m}
  - match: "spot-*"
  - match: "late"
loop: {scanInterval: 10m}
"""
    )
    assert warnings(path) == [
        ":4: scaleDown.utilizationThreshold: above 1, even full nodes can be unneeded",
        ":8: groups[1].allowNonAtomicScaleUpToMax: has no effect without zeroOrMax: true",
        ":10: groups[2]: this rule never applies: groups[0] matches first",
        ":11: groups[3]: this rule never applies: groups[1] matches first",
        ":12: loop.scanInterval: the health check fails between two loops: one must begin within maxInactivity",
    ]


def test_a_provider_has_to_be_named_only_where_it_has_to_run(write, classes) -> None:
    path = write("cluster: a")
    assert load(path, classes=classes, complete=False).settings.cluster == "a"
    with pytest.raises(
        ConfigurationError, match="providers: name at least one provider, here or with --cloud-provider"
    ):
        load(path, classes=classes)
    with pytest.raises(ConfigurationError, match=r"^providers: name at least one"):
        load(classes=classes)


def test_plugins_that_are_not_named_need_not_be_installed(classes) -> None:
    loaded = load(flags=parse_flags(["--cloud-provider=cloud", "--v=1"]), classes=None)
    assert loaded.settings.scale_up.estimator.name == "binpacking"
    with pytest.raises(ConfigurationError) as caught:
        load(flags=parse_flags(["--cloud-provider=cloud", "--estimator=none"]), classes=classes)
    assert str(caught.value).splitlines() == [
        "flags: --cloud-provider: its setting region is required",
        "flags: --estimator: none of the estimators is called none",
    ]


def test_one_plugin_may_be_listed_several_times_with_different_settings(write, classes) -> None:
    hooks = "scaleUp: {expanders: [{grpc: {url: a}}, {grpc: {url: b}}]}"
    loaded = load(write(f"providers: [{{cloud: {{region: eu}}}}]\n{hooks}"), classes=classes)
    assert [each.config["url"] for each in loaded.settings.scale_up.expanders] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: " + "[" * 5000, "is nested more than 100 levels deep"),
        ("- " * 5000 + "a", "is nested more than 100 levels deep"),
        ("\n".join(["l0: &l0 [x]", *(f"l{n}: &l{n} [*l{n - 1}]" for n in range(1, 500))]), "is nested more than"),
        ("\n".join(["l0: &l0 [x]", *(f"l{n}: &l{n} [*l{n - 1}, *l{n - 1}]" for n in range(1, 40))]), "aliases stand"),
        ('cluster: "\\ud800"', "has half of a character, which is no text"),
    ],
    ids=["brackets", "dashes", "aliases-deep", "aliases-wide", "half-a-character"],
)
def test_a_bomb_of_yaml_is_refused_in_words(text, message) -> None:
    _, problems = read_yaml(text, "bomb")

    assert any(message in problem.message for problem in problems)
