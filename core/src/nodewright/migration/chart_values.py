"""Values for Cluster Autoscaler's chart, as values for ours."""

import copy
import re
from collections.abc import Iterator, Mapping
from typing import Any

from nodewright.config.flag_table import FLAGS
from nodewright.migration.documents import Document, entries, mappings, section, unfilled, word
from nodewright.migration.flagged import read_flags
from nodewright.migration.migration import Migration, Release
from nodewright.migration.note import Note, check, differs, hand
from nodewright.migration.privilege import over_strict
from nodewright.migration.sizing import raised
from nodewright.migration.trust import trusts

#: Cluster Autoscaler's chart.
CHART = "cluster-autoscaler"
#: All values of our chart; every chart has ``global``.
_NAMES = """
    config cloudProvider autoDiscovery autoscalingGroups autoscalingGroupsnamePrefix awsRegion awsAccessKeyID
    awsSecretAccessKey azureClientID azureClientSecret azureResourceGroup azureSubscriptionID azureTenantID
    azureUseManagedIdentityExtension azureUserAssignedIdentityID azureUseWorkloadIdentityExtension azureVMType
    azureEnableForceDelete azureEnableVMSSEtag clusterAPIMode clusterAPIKubeconfigSecret
    clusterAPIWorkloadKubeconfigPath clusterAPICloudConfigPath clusterAPIConfigMapsNamespace cloudConfigPath
    expanderPriorities priorityConfigMapAnnotations extraArgs customArgs extraEnv extraEnvConfigMaps extraEnvSecrets
    envFromConfigMap envFromConfigMapOptional envFromSecret secretKeyRefNameOverride extraVolumes extraVolumeMounts
    extraVolumeSecrets initContainers extraObjects image nameOverride fullnameOverride selectorLabels replicaCount
    revisionHistoryLimit updateStrategy deployment podAnnotations podLabels additionalLabels priorityClassName
    priorityQuota hostNetwork dnsPolicy nodeSelector tolerations affinity topologySpreadConstraints resources
    securityContext containerSecurityContext rbac podDisruptionBudget networkPolicy service serviceMonitor
    prometheusRule alerts dashboards vpa global
"""
KNOWN = frozenset(_NAMES.split())
#: Values that Cluster Autoscaler's chart has and ours does without, by the beginning of their names.
_WITHOUT = {
    "azureClusterName": "only for AKS pools that Cluster Autoscaler supports no longer",
    "azureNodeResourceGroup": "only for AKS pools that Cluster Autoscaler supports no longer",
    "civo": "there is no plugin for Civo",
    "kubeTargetVersionOverride": "all API versions in use are served since Kubernetes 1.25",
    "kwok": "there is no plugin for kwok",
    "magnum": "there is no plugin for Magnum",
}
_LONGEST_NAME = 63
_TEMPLATE = re.compile(r"\{\{-?\s*\.Values\.([\w.]+)\s*-?\}\}")


def is_known(name: str) -> bool:
    """Return whether Cluster Autoscaler's chart has a value of this *name*, besides what every chart has."""
    return name != "global" and (name in KNOWN or name.startswith(tuple(_WITHOUT)))


def migrate_values(given: Document, release: Release) -> Migration:
    """Return what the values *given* of Cluster Autoscaler's chart become, in the place of its *release*."""
    values = copy.deepcopy(given)
    notes: list[Note] = []
    notes += unfilled(values)
    notes += _drop_empty_flags(values)
    flagged = read_flags(list(_words(values)))
    _drop_unknown(values, notes)
    _drop_image(values, notes)
    _drop_flags(values, flagged.effective)
    _keep_names(values, release, notes)
    for name in ("securityContext", "containerSecurityContext"):
        if values.get(name):
            values[name] = over_strict(section(values, name))
    if values.get("resources"):
        values["resources"], changes = raised(section(values, "resources"))
        notes += changes
    return Migration(release=release, values=values, configuration=flagged.yaml, notes=(*notes, *flagged.notes))


def _cloud(values: Document) -> str:
    return word(values, "cloudProvider") or "aws"


def _drop_unknown(values: Document, notes: list[Note]) -> None:
    for name in sorted(values.keys() - KNOWN):
        reason = next((text for start, text in _WITHOUT.items() if name.startswith(start)), None)
        note = (
            differs(name, f"has no effect: {reason}")
            if reason
            else hand(name, "left out: no such value is known: misspelt, or newer than this command?")
        )
        notes.append(note)
        del values[name]
    if section(values, "rbac").pop("pspEnabled", None):
        notes.append(differs("rbac.pspEnabled", "has no effect: Kubernetes has no PodSecurityPolicies since 1.25"))


def _drop_image(values: Document, notes: list[Note]) -> None:
    image = section(values, "image")
    dropped = ":".join(word(image, key) for key in ("repository", "tag") if image.get(key))
    kept = {key: image[key] for key in ("pullPolicy", "pullSecrets") if key in image}
    values.pop("image", None)
    if kept:
        values["image"] = kept
    if dropped:
        notes.append(differs("image", f"{dropped} is left out: it is Cluster Autoscaler's"))


def _drop_empty_flags(values: Document) -> list[Note]:
    """Leave out the flags without a value that need one: the next flag would be taken for it."""
    extra = section(values, "extraArgs")
    empty = [
        name
        for name, value in extra.items()
        if value is None and (flag := FLAGS.get(name.partition("_")[0])) and flag.type != "bool"
    ]
    if empty:
        values["extraArgs"] = {name: value for name, value in extra.items() if name not in empty}
    return [hand(f"extraArgs.{name}", "left out: it has no value") for name in empty]


def _drop_flags(values: Document, effective: frozenset[str]) -> None:
    """Leave out the flags that would have no effect here, or end the process."""
    extra = section(values, "extraArgs")
    kept = {name: value for name, value in extra.items() if name.partition("_")[0] in effective}
    custom = entries(values, "customArgs")
    own = [each for each in custom if str(each).lstrip("-").partition("=")[0] in effective]
    for name, before, after in (("extraArgs", extra, kept), ("customArgs", custom, own)):
        if before and not after:
            del values[name]
        elif before:
            values[name] = after


def _keep_names(values: Document, release: Release, notes: list[Note]) -> None:
    """Name everything as Cluster Autoscaler's chart does, so that an upgrade changes objects in their place."""
    name = _short(word(values, "nameOverride") or f"{_cloud(values)}-{CHART}")
    full = word(values, "fullnameOverride") or (name if name == release.name else f"{release.name}-{name}")
    values |= {"cloudProvider": _cloud(values), "nameOverride": name, "fullnameOverride": _short(full)}
    if values.get("podLabels"):
        # That chart has them in the selector, which can't be changed.
        own = {"app.kubernetes.io/instance": release.name, "app.kubernetes.io/name": name}
        values["selectorLabels"] = own | section(values, "podLabels")
    account = section(values, "rbac", "serviceAccount")
    made = account.get("create", True)
    if not account.get("name"):
        account["name"] = values["fullnameOverride"] if made else "default"
    values["rbac"] = section(values, "rbac") | {"serviceAccount": account}
    notes += trusts(section(account, "annotations"), namespace=release.namespace, account=str(account["name"]))
    if not made:
        notes.append(
            check("rbac.serviceAccount.name", f"{account['name']} has to exist, as before: it is not made here")
        )


def _short(name: str) -> str:
    return name[:_LONGEST_NAME].removesuffix("-")


def _words(values: Document) -> Iterator[str]:
    """Yield the flags that Cluster Autoscaler's chart makes of *values*."""
    cloud = _cloud(values)
    yield f"--cloud-provider={cloud}"
    for group in mappings(values, "autoscalingGroups"):
        yield f"--nodes={word(group, 'minSize')}:{word(group, 'maxSize')}:{word(group, 'name')}"
    for group in mappings(values, "autoscalingGroupsnamePrefix"):
        sizes = f"min={word(group, 'minSize')},max={word(group, 'maxSize')}"
        yield f"--node-group-auto-discovery=mig:namePrefix={_filled(word(group, 'name'), values)},{sizes}"
    yield from _discovery(cloud, values)
    if values.get("cloudConfigPath") and cloud != "clusterapi":
        yield f"--cloud-config={word(values, 'cloudConfigPath')}"
    for name, value in section(values, "extraArgs").items():
        flag = name.partition("_")[0]
        yield f"--{flag}" if value is None else f"--{flag}={_go(value)}"
    yield from (_filled(_go(each), values) for each in entries(values, "customArgs"))


def _discovery(cloud: str, values: Document) -> Iterator[str]:
    discovery = section(values, "autoDiscovery")
    cluster = _filled(word(discovery, "clusterName"), values)
    if cloud == "aws" and cluster:
        tags = entries(discovery, "tags") or [
            "k8s.io/cluster-autoscaler/enabled",
            f"k8s.io/cluster-autoscaler/{cluster}",
        ]
        yield f"--node-group-auto-discovery=asg:tag={_filled(','.join(map(str, tags)), values)}"
    elif cloud == "azure" and cluster:
        yield f"--node-group-auto-discovery=label:cluster-autoscaler-enabled=true,cluster-autoscaler-name={cluster}"
    elif cloud == "clusterapi":
        conditions = [f"clusterName={cluster}"] if cluster else []
        conditions += [f"namespace={discovery['namespace']}"] if discovery.get("namespace") else []
        conditions += [
            f"{key}={_go(value)}" for labels in mappings(discovery, "labels") for key, value in labels.items()
        ]
        conditions += map(str, entries(discovery, "customConditions"))
        if conditions:
            yield f"--node-group-auto-discovery=clusterapi:{','.join(conditions)}"


def _filled(text: str, values: Mapping[str, Any]) -> str:
    """Return *text* with the values that it refers to as a template; other templates stay."""
    return _TEMPLATE.sub(lambda found: word(values, *found[1].split(".")) or found[0], text)


def _go(value: object) -> str:
    """Return *value* as Go's flags read it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
