"""Short forms of the usual workloads, and the Kubernetes objects that they stand for."""

import re
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from nodewright_fake.controllers.nodes.kubelets import RUN_SECONDS
from nodewright_fake.duration import Duration
from nodewright_fake.scenario.manifest import Object
from nodewright_fake.settings import Quantity, Settings


class PodSettings(Settings):
    """A workload and the pods that it consists of; they carry the label ``app`` with its name."""

    name: str = Field(pattern=r"^[a-z0-9]([-a-z0-9.]{0,48}[a-z0-9])?$")
    namespace: str = "default"
    cpu: Quantity = "100m"
    memory: Quantity = "128Mi"
    #: What each pod requests besides, by resource.
    requests: dict[str, Quantity] = Field(default={})
    #: Labels and annotations of the pods.
    labels: dict[str, str] = Field(default={})
    annotations: dict[str, str] = Field(default={})
    node_selector: dict[str, str] = Field(default={})
    tolerations: tuple[dict[str, Any], ...] = ()
    priority_class_name: str = ""
    #: Anything else of a pod's spec, as Kubernetes has it.
    pod_spec: dict[str, Any] = Field(default={})

    def _workload(self, api_version: str, kind: str, **spec: Any) -> Object:
        selector = {} if kind == "Job" else {"selector": {"matchLabels": {"app": self.name}}}
        return {
            "apiVersion": api_version,
            "kind": kind,
            "metadata": {"name": self.name, "namespace": self.namespace, "labels": {"app": self.name}},
            "spec": {**spec, **selector, "template": self._template(restart="Never" if kind == "Job" else "Always")},
        }

    def _template(self, *, restart: str) -> Object:
        requests = {"cpu": self.cpu, "memory": self.memory, **self.requests}
        spec: Object = {
            "restartPolicy": restart,
            "containers": [{"name": "main", "image": f"example/{self.name}", "resources": {"requests": requests}}],
        }
        if self.node_selector:
            spec["nodeSelector"] = dict(self.node_selector)
        if self.tolerations:
            spec["tolerations"] = list(self.tolerations)
        if self.priority_class_name:
            spec["priorityClassName"] = self.priority_class_name
        return {
            "metadata": {"labels": {"app": self.name, **self.labels}, "annotations": self._annotations()},
            "spec": {**spec, **self.pod_spec},
        }

    def _annotations(self) -> dict[str, str]:
        return dict(self.annotations)


class DeploymentSettings(PodSettings):
    """A Deployment."""

    replicas: int = Field(default=1, ge=0)

    @property
    def manifest(self) -> Object:
        """The Kubernetes object."""
        return self._workload("apps/v1", "Deployment", replicas=self.replicas)


class DaemonSetSettings(PodSettings):
    """A DaemonSet."""

    namespace: str = "kube-system"
    priority_class_name: str = "system-node-critical"

    @property
    def manifest(self) -> Object:
        """The Kubernetes object."""
        return self._workload("apps/v1", "DaemonSet")


class JobSettings(PodSettings):
    """A Job, each pod of which runs for a while."""

    completions: int = Field(default=1, ge=1)
    parallelism: int = Field(default=1, ge=1)
    run: Duration = 60.0

    @property
    def manifest(self) -> Object:
        """The Kubernetes object."""
        return self._workload("batch/v1", "Job", completions=self.completions, parallelism=self.parallelism)

    def _annotations(self) -> dict[str, str]:
        return {**self.annotations, RUN_SECONDS: f"{self.run:g}"}


def _pod_count(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return str(value)
    if isinstance(value, str) and re.fullmatch(r"\d+%?", value):
        return value
    raise ValueError(f"{value!r} is not a number of pods: write one such as 2 or 50%")


PodCount = Annotated[str, BeforeValidator(_pod_count), WithJsonSchema({"type": ["string", "integer"]})]


class BudgetSettings(Settings):
    """A PodDisruptionBudget for the pods of one workload."""

    #: The workload whose pods are meant; also the budget's name.
    name: str = Field(alias="for")
    namespace: str = "default"
    min_available: PodCount | None = None
    max_unavailable: PodCount | None = None

    @model_validator(mode="after")
    def _one_bound(self) -> Self:
        if (self.min_available is None) == (self.max_unavailable is None):
            raise ValueError("write either minAvailable or maxUnavailable")
        return self

    @property
    def manifest(self) -> Object:
        """The Kubernetes object."""
        bounds = {"minAvailable": self.min_available, "maxUnavailable": self.max_unavailable}
        return {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": self.name, "namespace": self.namespace},
            "spec": {
                "selector": {"matchLabels": {"app": self.name}},
                **{key: int(count) if count.isdigit() else count for key, count in bounds.items() if count is not None},
            },
        }


class Workloads(Settings):
    """The workloads that the cluster begins with."""

    deployments: tuple[DeploymentSettings, ...] = ()
    daemon_sets: tuple[DaemonSetSettings, ...] = ()
    jobs: tuple[JobSettings, ...] = ()
    budgets: tuple[BudgetSettings, ...] = ()

    @property
    def manifests(self) -> tuple[Object, ...]:
        """All of them as Kubernetes objects; budgets first, so that no pod is ever without its budget."""
        return (
            *(budget.manifest for budget in self.budgets),
            *(daemon_set.manifest for daemon_set in self.daemon_sets),
            *(deployment.manifest for deployment in self.deployments),
            *(job.manifest for job in self.jobs),
        )
