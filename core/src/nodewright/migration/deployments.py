"""A Deployment of Cluster Autoscaler and the objects round it, as values for our chart."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nodewright.config.addresses import split_address
from nodewright.migration.command_line import flags_of, is_autoscaler
from nodewright.migration.documents import Document, mappings, section, unfilled, word
from nodewright.migration.flagged import Flagged, read_flags
from nodewright.migration.migration import Migration, Release
from nodewright.migration.note import Note, check, differs, hand
from nodewright.migration.privilege import over_strict
from nodewright.migration.sizing import raised
from nodewright.migration.trust import trusts

PRIORITIES = "cluster-autoscaler-priority-expander"
#: Cluster Autoscaler's own default of ``--namespace``, wherever it runs.
DEFAULT_NAMESPACE = "kube-system"
#: Marks by which other programs find what is theirs, to change or to delete it.
_MANAGED = re.compile(
    r"(^|\.)(kops\.k8s\.io|cattle\.io|argoproj\.io|fluxcd\.io|helm\.sh|kubernetes\.io|k8s\.io|terraform\.io)/|"
    r"^(helm\.sh/chart|chart|heritage|release|pod-template-hash|k8s-addon|objectset)$"
)
#: What pods say to autoscalers.
_TO_AUTOSCALERS = "cluster-autoscaler.kubernetes.io/"
#: Fields of a pod that the chart has a value for, by the name of the value.
_POD_FIELDS = {
    "priorityClassName": "priorityClassName",
    "hostNetwork": "hostNetwork",
    "dnsPolicy": "dnsPolicy",
    "nodeSelector": "nodeSelector",
    "tolerations": "tolerations",
    "affinity": "affinity",
    "topologySpreadConstraints": "topologySpreadConstraints",
    "initContainers": "initContainers",
    "securityContext": "securityContext",
}
_POD_FIELDS_ELSEWHERE = {"containers", "volumes", "serviceAccountName", "serviceAccount", "imagePullSecrets"} | {
    "automountServiceAccountToken"
}
#: What the API server fills in, and what our chart and our process do in their own way.
_POD_DEFAULTS: Mapping[str, Any] = {
    "restartPolicy": "Always",
    "schedulerName": "default-scheduler",
    "terminationGracePeriodSeconds": 30,
    "enableServiceLinks": True,
}
#: What follows from the priority class.
_POD_IDLE = {"priority", "preemptionPolicy"}
_CONTAINER_FIELDS = {"name", "image", "imagePullPolicy", "command", "args", "env", "envFrom", "ports", "resources"} | {
    *("securityContext", "volumeMounts", "livenessProbe", "readinessProbe", "startupProbe", "workingDir"),
    *("terminationMessagePath", "terminationMessagePolicy"),
}
#: The chart's own volume.
_OWN_VOLUME = "config"


@dataclass(frozen=True, kw_only=True)
class Found:
    """A Deployment that runs Cluster Autoscaler."""

    deployment: Document
    container: Document
    #: All other objects that were given with it.
    beside: tuple[Document, ...]
    namespace: str

    @property
    def name(self) -> str:
        """The Deployment's name."""
        return word(self.deployment, "metadata", "name") or "cluster-autoscaler"

    @property
    def pod(self) -> Document:
        """What its pods are to be."""
        return section(self.deployment, "spec", "template", "spec")

    @property
    def account(self) -> str:
        """The name of its service account."""
        return word(self.pod, "serviceAccountName") or word(self.pod, "serviceAccount") or "default"

    @property
    def release(self) -> str:
        """The Helm release that it is part of, empty if it is of none."""
        return helm_release(self.deployment)

    def other(self, kind: str, name: str) -> Document | None:
        """Return the object of *kind* called *name* that was given with it."""
        return next(
            (each for each in self.beside if each.get("kind") == kind and word(each, "metadata", "name") == name), None
        )


def deployments_in(documents: Sequence[Document], *, namespace: str = "") -> Iterator[Found]:
    """Yield the Deployments in *documents* that run Cluster Autoscaler; *namespace* is for those that name none."""
    for each in documents:
        if each.get("kind") != "Deployment":
            continue
        containers = mappings(each, "spec", "template", "spec", "containers")
        container = next((one for one in containers if is_autoscaler(one)), None)
        if container is not None:
            yield Found(
                deployment=each,
                container=container,
                beside=tuple(one for one in documents if one is not each),
                namespace=word(each, "metadata", "namespace") or namespace or DEFAULT_NAMESPACE,
            )


def helm_release(each: Document) -> str:
    """Return the Helm release that an object is part of, empty if it is of none."""
    annotated = word(each, "metadata", "annotations", "meta.helm.sh/release-name")
    labels = section(each, "metadata", "labels")
    if annotated or labels.get("app.kubernetes.io/managed-by") != "Helm":
        return annotated
    return str(labels.get("app.kubernetes.io/instance") or "")


def migrate_deployment(found: Found) -> Migration:
    """Return what *found* becomes: a release beside it, or in its place if Helm keeps it."""
    words, notes = flags_of(found.container)
    flagged = read_flags(words)
    values: Document = {}
    values |= _naming(found, notes)
    values |= _configuration(found, flagged, notes)
    values |= _environment(found, notes)
    values |= _volumes(found, notes)
    values |= _pod(found, notes)
    values |= _objects(found, notes)
    return Migration(
        release=_in_place(found) if found.release else _beside(found),
        values=values,
        configuration=flagged.yaml,
        notes=(*notes, *flagged.notes, *_keepers(found)),
    )


def _beside(found: Found) -> Release:
    deployment = f"--namespace {found.namespace} deployment/{found.name}"
    return Release(
        name="nodewright",
        namespace=found.namespace,
        keeper=f"the Deployment {found.namespace}/{found.name}",
        steps=(
            f"kubectl scale {deployment} --replicas=0",
            f"helm install nodewright deploy/chart --namespace {found.namespace} --values values.yaml",
            f"the way back: helm uninstall nodewright --namespace {found.namespace}",
            f"and then: kubectl scale {deployment} --replicas={_replicas(found)}",
        ),
    )


def _in_place(found: Found) -> Release:
    return Release(
        name=found.release,
        namespace=found.namespace,
        keeper=f"the Deployment {found.namespace}/{found.name} of the Helm release {found.release}",
        steps=(
            f"helm upgrade {found.release} deploy/chart --namespace {found.namespace} --values values.yaml",
            f"the way back: helm rollback {found.release} --namespace {found.namespace}",
        ),
    )


def _naming(found: Found, notes: list[Note]) -> Document:
    """Return names, labels and the service account."""
    account = found.other("ServiceAccount", found.account)
    annotations = section(account or {}, "metadata", "annotations")
    values: Document = {"rbac": {"serviceAccount": {"create": False, "name": found.account}}}
    if found.release:
        labels = section(found.deployment, "metadata", "labels")
        selector = section(found.deployment, "spec", "selector", "matchLabels")
        values["fullnameOverride"] = found.name
        values["nameOverride"] = str(labels.get("app.kubernetes.io/name") or found.container.get("name") or found.name)
        values["selectorLabels"] = selector
        owned = helm_release(account) == found.release if account else found.account == found.name
        if owned:
            kept = {key: value for key, value in annotations.items() if not _is_managed(key)}
            values["rbac"]["serviceAccount"] |= {"create": True} | ({"annotations": kept} if kept else {})
        if account is None:
            notes.append(
                check("rbac.serviceAccount", "the account was not given: say create: true if the release makes it")
            )
        notes.append(
            check("values", f"more may be set in the release: helm get values {found.release} | nodewright migrate -")
        )
    elif account is None:
        notes.append(
            check("rbac.serviceAccount.name", f"{found.account} has to exist already: kubectl get serviceaccount")
        )
    else:
        notes.append(differs("ServiceAccount", f"{found.account} is used as it is: keep it when all else goes"))
    if word({"pod": found.pod}, "pod", "automountServiceAccountToken").lower() == "false":
        notes.append(
            check("rbac.serviceAccount.automountServiceAccountToken", "true here: the process needs its token")
        )
    notes += trusts(annotations, namespace=found.namespace, account=found.account)
    return values


def _configuration(found: Found, flagged: Flagged, notes: list[Note]) -> Document:
    """Return the configuration, without what the chart says itself."""
    config = dict(flagged.mapping)
    home = flagged.settings.namespace
    config.pop("namespace", None)
    values: Document = {"config": config}
    if home != found.namespace:
        values["clusterAPIConfigMapsNamespace"] = home
        notes.append(check("clusterAPIConfigMapsNamespace", f"the lease and the ConfigMaps stay in {home}, as with CA"))
    _, port = split_address(flagged.settings.server.address)
    for each in mappings(found.container, "ports"):
        if each.get("containerPort") == port and each.get("name"):
            values["service"] = {"portName": str(each["name"])}
    notes += unfilled(values)
    return values


def _environment(found: Found, notes: list[Note]) -> Document:
    plain: Document = {}
    maps: Document = {}
    secrets: Document = {}
    for each in mappings(found.container, "env"):
        name, source = word(each, "name"), section(each, "valueFrom")
        if not source:
            plain[name] = word(each, "value")
        elif source.keys() == {"configMapKeyRef"}:
            maps[name] = _reference(source, "configMapKeyRef")
        elif source.keys() == {"secretKeyRef"}:
            secrets[name] = _reference(source, "secretKeyRef")
        else:
            notes.append(hand(f"env {name}", f"the chart takes no {', '.join(source)}: set it with extraEnv"))
        if found.release and name in secrets and secrets[name]["name"] == found.name:
            notes.append(hand(f"env {name}", "its Secret is made by the release: migrate its values instead"))
    values = {"extraEnv": plain, "extraEnvConfigMaps": maps, "extraEnvSecrets": secrets}
    return {key: value for key, value in values.items() if value} | _bulk_environment(found, notes)


def _bulk_environment(found: Found, notes: list[Note]) -> Document:
    values: Document = {}
    for each in mappings(found.container, "envFrom"):
        config_map, secret = section(each, "configMapRef"), section(each, "secretRef")
        key = "envFromConfigMap" if config_map else "envFromSecret"
        if key in values or each.get("prefix"):
            notes.append(hand("envFrom", f"the chart takes one source without a prefix: {each} is left out"))
            continue
        values[key] = word(config_map or secret, "name")
        if config_map:
            values["envFromConfigMapOptional"] = bool(config_map.get("optional", False))
    return values


def _reference(source: Document, kind: str) -> Document:
    return {"name": word(source, kind, "name"), "key": word(source, kind, "key")}


def _volumes(found: Found, notes: list[Note]) -> Document:
    volumes, mounts = mappings(found.pod, "volumes"), mappings(found.container, "volumeMounts")
    mounts = [each for each in mounts if not str(each.get("name")).startswith("kube-api-access-")]
    volumes = [each for each in volumes if not str(each.get("name")).startswith("kube-api-access-")]
    taken = {str(each.get("name")) for each in volumes}
    if _OWN_VOLUME in taken:
        other = next(name for name in (f"{_OWN_VOLUME}-{number}" for number in range(2, 99)) if name not in taken)
        volumes = [each | {"name": other} if each.get("name") == _OWN_VOLUME else each for each in volumes]
        mounts = [each | {"name": other} if each.get("name") == _OWN_VOLUME else each for each in mounts]
        notes.append(
            differs("extraVolumes", f"the volume {_OWN_VOLUME} is called {other}: the chart has one of that name")
        )
    values: Document = {"extraVolumes": volumes, "extraVolumeMounts": mounts}
    return {key: value for key, value in values.items() if value}


def _pod(found: Found, notes: list[Note]) -> Document:
    """Return what the pod and its container are to be, and note what the chart can't say."""
    pod, container = found.pod, found.container
    values = {value: pod[name] for name, value in _POD_FIELDS.items() if pod.get(name)}
    if "securityContext" in values:
        values["securityContext"] = over_strict(section(pod, "securityContext"))
    if "priorityClassName" not in values:
        notes.append(differs("priorityClassName", "system-cluster-critical, the chart's default: none was given"))
    if container.get("securityContext"):
        values["containerSecurityContext"] = over_strict(section(container, "securityContext"))
    if "securityContext" not in values and "containerSecurityContext" not in values:
        notes += _unprivileged(pod)
    pull_secrets = [word(each, "name") for each in mappings(pod, "imagePullSecrets")]
    if pull_secrets:
        values["image"] = {"pullSecrets": pull_secrets}
    resources, changes = raised(section(container, "resources"))
    notes += changes
    if resources:
        values["resources"] = resources
    for name in sorted(pod.keys() - _POD_FIELDS.keys() - _POD_FIELDS_ELSEWHERE):
        usual = pod[name] if name in _POD_IDLE else _POD_DEFAULTS.get(name)
        if pod[name] and pod[name] != usual:
            notes.append(hand(f"pod.{name}", "the chart has no value for it"))
    for name in sorted(container.keys() - _CONTAINER_FIELDS):
        if container[name]:
            notes.append(hand(f"container.{name}", "the chart has no value for it"))
    for each in mappings(pod, "containers"):
        if each is not container and each != container:
            notes.append(hand(f"containers {each.get('name')}", "the chart has one container: run the other elsewhere"))
    return values


def _unprivileged(pod: Document) -> Iterator[Note]:
    """Yield a note about files of the node that only root may read."""
    paths = [word(each, "hostPath", "path") for each in mappings(pod, "volumes") if each.get("hostPath")]
    paths = [each for each in paths if "cert" not in each and "pki" not in each]
    if paths:
        yield check(
            "securityContext", f"the process is user 65532, not root: {', '.join(paths)} must be readable to it"
        )


def _objects(found: Found, notes: list[Note]) -> Document:
    """Return what the Deployment says about itself, and what follows from the objects beside it."""
    spec, metadata = section(found.deployment, "spec"), section(found.deployment, "metadata")
    template = section(spec, "template", "metadata")
    selector = section(spec, "selector", "matchLabels") if found.release else {}
    labels = {
        key: value for key, value in section(template, "labels").items() if not _is_managed(key) and key not in selector
    }
    annotations = {key: value for key, value in section(template, "annotations").items() if not _is_managed(key)}
    own = {key: value for key, value in section(metadata, "annotations").items() if not _is_managed(key)}
    values: Document = {
        "podLabels": labels,
        "podAnnotations": annotations,
        "deployment": {"annotations": own} if own else {},
        "updateStrategy": section(spec, "strategy"),
    }
    values = {key: value for key, value in values.items() if value}
    if _replicas(found) != 1:
        values["replicaCount"] = _replicas(found)
    values |= _budget(found, section(template, "labels"), notes)
    return values | _priorities(found, notes)


def _budget(found: Found, labels: Document, notes: list[Note]) -> Document:
    """Return no budget of ours if there is one for the same pods: with two, no eviction is allowed."""
    for each in found.beside:
        selector = section(each, "spec", "selector", "matchLabels")
        if each.get("kind") != "PodDisruptionBudget" or not selector or not selector.items() <= labels.items():
            continue
        name = word(each, "metadata", "name")
        if found.release and helm_release(each) == found.release:
            spec = section(each, "spec")
            return {
                "podDisruptionBudget": {key: spec[key] for key in ("minAvailable", "maxUnavailable") if key in spec}
            }
        notes.append(differs("podDisruptionBudget", f"none of ours: {name} stays, and is for these pods, too"))
        return {"podDisruptionBudget": None}
    return {}


def _priorities(found: Found, notes: list[Note]) -> Document:
    """Return the priorities if they are the release's own, which Helm would delete."""
    priorities = found.other("ConfigMap", PRIORITIES)
    if priorities is None:
        return {}
    if found.release and helm_release(priorities) == found.release:
        return {"expanderPriorities": word(priorities, "data", "priorities")}
    notes.append(differs("expanderPriorities", f"the ConfigMap {PRIORITIES} stays as it is, and is read"))
    return {}


def _keepers(found: Found) -> Iterator[Note]:
    """Yield notes about programs that would bring Cluster Autoscaler back, or take what we use away."""
    marks = section(found.deployment, "metadata", "labels") | section(found.deployment, "metadata", "annotations")
    if any("kops.k8s.io" in key or "kops" in str(marks[key]) for key in marks) or "k8s-addon" in marks:
        yield check(
            "kOps",
            "it keeps this Deployment, and would scale it up again: set spec.clusterAutoscaler.enabled: false, and "
            f"look whether the service account {found.account} is still there",
        )
    if any("argoproj.io" in key for key in marks):
        yield check(
            "Argo CD", "it keeps this Deployment: migrate its Application, or change the manifests that it reads"
        )
    if any("fluxcd.io" in key for key in marks):
        yield check("Flux", "it keeps this Deployment: migrate its HelmRelease, or change the manifests that it reads")
    if any("objectset.rio.cattle.io" in key for key in marks):
        yield check("Rancher", "it keeps this Deployment: take the manifest from the servers, or migrate its HelmChart")


def _replicas(found: Found) -> int:
    given = section(found.deployment, "spec").get("replicas")
    return given if isinstance(given, int) and not isinstance(given, bool) else 1


def _is_managed(key: str) -> bool:
    return bool(_MANAGED.search(key)) and not key.startswith(_TO_AUTOSCALERS)
