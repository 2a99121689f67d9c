"""``kube-env``: metadata in which GKE, kOps, or people by hand say what a node will be."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml
from nodewright.api import Taint

from nodewright_gce.config.templates import OsDistribution
from nodewright_gce.templates.values import ValueReader

#: Key of the metadata.
KUBE_ENV = "kube-env"

_VARIABLES = "AUTOSCALER_ENV_VARS"
_BLOCKED = "BLOCK_EPH_STORAGE_BOOT_DISK"
_KUBELET_ARGUMENTS = ("KUBELET_ARGS", "KUBELET_TEST_ARGS")
#: Labels with this prefix are resources; the rest of the key is their name.
_RESOURCE_LABEL = "clusterautoscaler-nodetemplate-resources."
_MAX_PODS_LABEL = "cloud.google.com/gke-max-pods-per-node"
_GKE_LABEL = "cloud.google.com/gke-nodepool"
_LINE = re.compile(r"""^([A-Za-z_][A-Za-z0-9_]*):[ \t]*(.*?)[ \t\r]*$""", re.MULTILINE)
#: YAML's scanner is much faster in C, where there is one. All values are read as text.
_LOADER: type[Any] = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


@dataclass(frozen=True, kw_only=True)
class KubeEnv:
    """What ``kube-env`` says about a node."""

    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    #: Resources beside those of the machine.
    resources: Mapping[str, int] = field(default_factory=dict)
    #: None if it does not say what kubelets reserve.
    kube_reserved: Mapping[str, int] | None = None
    system_reserved: Mapping[str, int] = field(default_factory=dict)
    eviction: Mapping[str, str] = field(default_factory=dict)
    #: ``linux`` or ``windows``.
    os: str = "linux"
    #: None if it does not say.
    distribution: OsDistribution | None = None
    #: How many local SSDs pods write to; None if it does not say.
    storage_ssds: int | None = None
    #: Pods do not write to the boot disk.
    boot_disk_blocked: bool = False
    max_pods: int | None = None
    #: Values for fields of `nodewright.api.GroupOptions`.
    options: Mapping[str, Any] = field(default_factory=dict)
    #: kube-proxy is a DaemonSet, not a static pod.
    kube_proxy_daemon_set: bool = False
    #: Parts that were ignored and why, each in a sentence.
    mistakes: tuple[str, ...] = ()

    @property
    def gke(self) -> bool:
        """Whether nodes are GKE's."""
        return _GKE_LABEL in self.labels


def read_kube_env(text: str) -> KubeEnv:
    """Return what *text* says. Parts that can't be parsed are ignored and listed as mistakes; the rest counts."""
    reader = ValueReader()
    values = _values(text, reader)
    variables = _variables(values.get(_VARIABLES, ""), reader)
    arguments = " ".join(values.get(name, "") for name in _KUBELET_ARGUMENTS)
    marked = reader.labels("kube-env, node_labels", variables.get("node_labels", values.get("NODE_LABELS", "")))
    labels = {key: value for key, value in marked.items() if not key.startswith(_RESOURCE_LABEL)}
    from_labels = ",".join(
        f"{key.removeprefix(_RESOURCE_LABEL)}={value}" for key, value in marked.items() if key not in labels
    )
    reserved = variables.get("kube_reserved", _argument(arguments, "kube-reserved"))
    ssds = variables.get("ephemeral_storage_local_ssd_count", "")
    return KubeEnv(
        labels=labels,
        taints=reader.taints("kube-env, node_taints", variables.get("node_taints", values.get("NODE_TAINTS", ""))),
        resources={
            **reader.amounts("kube-env, node_labels", from_labels),
            **reader.amounts("kube-env, extended_resources", variables.get("extended_resources", "")),
        },
        kube_reserved=reader.amounts("kube-env, kube_reserved", reserved) if reserved else None,
        system_reserved=reader.amounts("kube-env, --system-reserved", _argument(arguments, "system-reserved")),
        eviction=reader.thresholds(
            "kube-env, evictionHard", variables.get("evictionHard", _argument(arguments, "eviction-hard"))
        ),
        os=variables.get("os", "linux"),
        distribution=_distribution(variables.get("os_distribution", "")),
        storage_ssds=reader.number("kube-env, ephemeral_storage_local_ssd_count", ssds) if ssds else None,
        boot_disk_blocked="true" in (variables.get(_BLOCKED), values.get(_BLOCKED)),
        max_pods=_max_pods(labels.get(_MAX_PODS_LABEL) or _argument(arguments, "max-pods"), reader),
        options=reader.options("kube-env, autoscaling_options", variables.get("autoscaling_options", "")),
        kube_proxy_daemon_set=values.get("KUBE_PROXY_DAEMONSET") == "true",
        mistakes=tuple(reader.mistakes),
    )


def _values(text: str, reader: ValueReader) -> Mapping[str, str]:
    """Return the values by name; line by line if *text* is no YAML."""
    try:
        content = yaml.load(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        reader.add("kube-env", f"it is no YAML, so it is read line by line: {' '.join(str(error).split())}")
        return {name: value.strip("'\"") for name, value in _LINE.findall(text)}
    if not isinstance(content, Mapping):
        if text.strip():
            reader.add("kube-env", "it is ignored, as it is no YAML with names and values")
        return {}
    return {name: value for name, value in content.items() if isinstance(value, str)}


def _variables(text: str, reader: ValueReader) -> Mapping[str, str]:
    """Return the variables in *text*: ``name=value;name=value``."""
    found = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        name, equals, value = part.partition("=")
        if equals and name.strip():
            found[name.strip()] = value.strip(" \t\r\n'\"")
        else:
            reader.add(f"kube-env, {_VARIABLES}", f"{part!r} is ignored: write name=value")
    return found


def _argument(arguments: str, name: str) -> str:
    """Return the value of ``--name`` in a command line; the last one counts, as in kubelets."""
    found = re.findall(rf"""(?:^|\s)--{name}[=\s]["']?([^\s"']+)""", arguments)
    return found[-1] if found else ""


def _distribution(name: str) -> OsDistribution | None:
    if not name:
        return None
    known = (OsDistribution.COS, OsDistribution.UBUNTU)
    return next((each for each in known if name.partition("_")[0] == each), OsDistribution.OTHER)


def _max_pods(text: str, reader: ValueReader) -> int | None:
    return reader.number("kube-env, pods of a node", text, least=1) if text else None
