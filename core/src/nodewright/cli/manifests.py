"""``nodewright manifests``: everything that a cluster needs to run Nodewright, for ``kubectl apply``."""

import re
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import yaml

from nodewright.api.command import Command
from nodewright.cli.exit_status import ExitStatus
from nodewright.cli.output import JSON, YAML, add_output, written
from nodewright.config.addresses import read_namespace, split_address

if TYPE_CHECKING:
    from nodewright.config.model import Settings

#: The names with which the chart was rendered.
_NAME, _NAMESPACE, _MONITORING = "nodewright", "kube-system", "monitoring"
_FILE = "nodewright.yaml"
_READING = {"list", "watch"}
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}

#: Texts that PyYAML leaves bare, and Go reads as numbers.
_NUMBER_ELSEWHERE = re.compile(r"[-+]?[0-9]+[eE][-+]?[0-9]+|0o[0-7]+")

Object = dict[str, Any]


class ManifestsCommand(Command):
    """Prints what the Helm chart installs, without Helm."""

    examples: ClassVar[Mapping[str, str]] = {
        "nodewright manifests --config nodewright.yaml --image registry.example/nw:0.1": "for kubectl apply -f -",
        "nodewright manifests --config nodewright.yaml --replicas 2 --monitoring": "two replicas, and alert rules",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what can be changed."""
        parser.add_argument("--config", type=Path, required=True, metavar="FILE", help="the configuration to run with")
        parser.add_argument(
            "--namespace",
            type=_namespace,
            help="where the autoscaler runs; default: namespace of the configuration, or kube-system",
        )
        parser.add_argument(
            "--image", type=_image, metavar="NAME:TAG", help="default: nodewright, with the tag of this version"
        )
        parser.add_argument(
            "--replicas", type=_replicas, default=1, metavar="N", help="default: %(default)s; one of them acts"
        )
        parser.add_argument(
            "--monitoring",
            nargs="?",
            type=_namespace,
            const=_MONITORING,
            metavar="NAMESPACE",
            help="add a dashboard, and alert rules and a ServiceMonitor in NAMESPACE (default: monitoring)",
        )
        add_output(parser, (YAML, JSON))

    def run(self, arguments: Namespace) -> int:
        """Print the manifests. Raises `ConfigurationError` with every mistake in the configuration."""
        from nodewright.config.document import load, read_file

        text = read_file(arguments.config)
        # Its plugins are in the image, and need not be installed here.
        settings = load(arguments.config).settings
        objects = manifests(
            settings,
            text,
            namespace=arguments.namespace or settings.namespace,
            image=arguments.image,
            replicas=arguments.replicas,
            monitoring=arguments.monitoring,
        )
        if arguments.output == JSON:
            print(written({"apiVersion": "v1", "kind": "List", "items": objects}, JSON))
        else:
            print(as_yaml(objects), end="")
        for caution in cautions(settings):
            print(f"{arguments.config}: {caution}", file=sys.stderr)
        return ExitStatus.DONE


def manifests(
    settings: "Settings",
    text: str,
    *,
    namespace: str = _NAMESPACE,
    image: str | None = None,
    replicas: int = 1,
    monitoring: str | None = None,
) -> list[Object]:
    """Return the objects that run Nodewright with the configuration *text*, whose values are *settings*.

    They are those of the chart with its defaults. *monitoring* is the namespace of the objects for Prometheus; without
    it, there are none.
    """
    objects = [each for each in _packaged() if monitoring or not _is_monitoring(each)]
    for each in objects:
        _move(each, namespace, monitoring or _MONITORING)
        match each["kind"]:
            case "Deployment":
                _set_up(each, settings, namespace, image, replicas)
            case "ConfigMap" if _FILE in each["data"]:
                each["data"][_FILE] = text
            case "ClusterRole" | "Role":
                each["rules"] = list(_needed(each["rules"], settings))
    return objects


def cautions(settings: "Settings") -> Iterator[str]:
    """Yield warnings about *settings* that do not work in the printed container."""
    files = {"record.path": settings.record.path}
    if settings.memory.store == "file":
        files["memory.path"] = settings.memory.path
    for path, file in files.items():
        if file:
            yield f"{path}: the container can't write to {file} until you mount a volume there"
    host, _ = split_address(settings.server.address)
    if host in _LOOPBACK:
        yield f"server.address: the kubelet's probe and Prometheus can't reach {settings.server.address}: write :8085"
    if settings.kube.kubeconfig:
        yield f"kube.kubeconfig: {settings.kube.kubeconfig} is not in the container: leave it out"


def as_yaml(objects: list[Object]) -> str:
    """Return *objects* as the documents of one YAML file."""
    return "".join(
        "---\n" + yaml.dump(each, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000) for each in objects
    )


def _packaged() -> list[Object]:
    """Return all objects that `make manifests` rendered from the chart."""
    text = files("nodewright.cli").joinpath("manifests.yaml").read_text(encoding="utf-8")
    return list(yaml.safe_load_all(text))


def _is_monitoring(each: Object) -> bool:
    return each["kind"] in ("ServiceMonitor", "PrometheusRule") or each["metadata"]["name"].endswith("-dashboard")


def _move(each: Object, namespace: str, monitoring: str) -> None:
    moves = {_NAMESPACE: namespace, _MONITORING: monitoring}
    places = [each["metadata"], *each.get("subjects", ())]
    for place in places:
        if "namespace" in place:
            place["namespace"] = moves[place["namespace"]]
    if each["kind"] == "ServiceMonitor":
        each["spec"]["namespaceSelector"]["matchNames"] = [namespace]


def _set_up(deployment: Object, settings: "Settings", namespace: str, image: str | None, replicas: int) -> None:
    deployment["spec"]["replicas"] = replicas
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    if image:
        container["image"] = image
    # The configuration names the providers: no flag does.
    container["args"] = [f"--config=/etc/{_NAME}/{_FILE}", f"--namespace={namespace}"]
    _, port = split_address(settings.server.address)
    container["ports"][0]["containerPort"] = port
    for probe in ("startupProbe", "livenessProbe"):
        container[probe]["httpGet"]["port"] = port


def _needed(rules: list[Object], settings: "Settings") -> Iterator[Object]:
    """Yield those of *rules* that *settings* need, with the names of objects from the settings."""
    given = settings.model_dump(mode="json", by_alias=True)
    acts = not _setting(given, "dryRun", False)
    leads = _setting(given, "leaderElection.enabled", True)
    tells = _setting(given, "status.write", True)
    keeps = _setting(given, "memory.store", "configMap") == "configMap"
    wanted = {
        ("capacityquotas", ""): _setting(given, "limits.capacityQuotas", False),
        ("leases", ""): leads,
        ("leases", "cluster-autoscaler"): leads,
        ("configmaps", ""): tells or keeps,
        ("configmaps", "cluster-autoscaler-status"): tells,
        ("configmaps", "nodewright-memory"): keeps,
        ("configmaps", "nodewright-memory-set-aside"): keeps,
    }
    memory = _setting(given, "memory.name", "nodewright-memory")
    names = {
        ("leases", "cluster-autoscaler"): [_setting(given, "leaderElection.resourceName", "")],
        ("configmaps", "cluster-autoscaler-status"): [_setting(given, "status.name", "")],
        ("configmaps", "nodewright-memory"): [memory],
        ("configmaps", "nodewright-memory-set-aside"): [f"{memory}-set-aside"],
    }
    for rule in rules:
        key = rule["resources"][0], rule.get("resourceNames", [""])[0]
        if wanted.get(key, True) and (acts or _READING.issuperset(rule["verbs"])):
            yield rule | ({"resourceNames": names[key]} if key in names else {})


def _setting(given: Any, path: str, default: Any) -> Any:
    """Return the setting at *path*, or *default* if it does not exist."""
    for key in path.split("."):
        if key not in given:
            return default
        given = given[key]
    return given


def _namespace(text: str) -> str:
    try:
        return read_namespace(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None


def _image(text: str) -> str:
    if not text or text.split() != [text]:
        raise ArgumentTypeError(f"write NAME:TAG, not {text!r}")
    return text


def _replicas(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentTypeError(f"write a number of replicas, not {text!r}")
    return int(text)


class _Dumper(yaml.SafeDumper):
    """Writes lists below their key, and texts of several lines as such."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else "'" if _NUMBER_ELSEWHERE.fullmatch(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)
