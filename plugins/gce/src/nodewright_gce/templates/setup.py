"""How the nodes of a group are set up: operating system, disks, and what kubelets keep."""

from collections.abc import Mapping
from dataclasses import replace

from nodewright.api import parse_resources

from nodewright_gce.config.templates import KubeletSettings, OsDistribution, Reservable, Reservations
from nodewright_gce.machine_types.allocatable import NodeSetup
from nodewright_gce.resources.instance_template import TemplateProperties
from nodewright_gce.templates.kube_env import KubeEnv
from nodewright_gce.templates.launch import Launch
from nodewright_gce.templates.node_metadata import NodeMetadata

_MAX_PODS = 110


def setup_of(
    launch: Launch, distribution: OsDistribution, env: KubeEnv, own: NodeMetadata, kubelet: KubeletSettings
) -> NodeSetup:
    """Return the setup of a machine: metadata of our own counts most, then settings, then ``kube-env``."""
    setup = NodeSetup(
        distribution=distribution,
        max_pods=own.max_pods or kubelet.max_pods or env.max_pods or _MAX_PODS,
        boot_disk_gib=None if env.boot_disk_blocked else launch.boot_disk_gib,
        storage_ssds=_storage_ssds(launch, env, kubelet),
        storage_ssd_gib=launch.local_ssd_gib,
        eviction={**env.eviction, **{str(signal): text for signal, text in kubelet.eviction_hard.items()}},
        encrypted_memory=launch.encrypted_memory,
        memory_overhead=kubelet.memory_overhead,
    )
    return _reserving(setup, env, own, kubelet)


def distribution_of(properties: TemplateProperties, env: KubeEnv, kubelet: KubeletSettings) -> OsDistribution:
    """Return the operating system: as the settings say, or ``kube-env``, or the name of the image."""
    if kubelet.os_distribution is not OsDistribution.AUTO:
        return kubelet.os_distribution
    if env.distribution is not None:
        return env.distribution
    image = image_of(properties)
    return next(
        (each for each in (OsDistribution.COS, OsDistribution.UBUNTU) if f"/{each}-" in image), OsDistribution.OTHER
    )


def image_of(properties: TemplateProperties) -> str:
    """Return the URL of the image that machines boot; empty if the template does not say."""
    return next((disk.initialize_params.source_image for disk in properties.disks if disk.boot), "")


def _reserving(setup: NodeSetup, env: KubeEnv, own: NodeMetadata, kubelet: KubeletSettings) -> NodeSetup:
    """Return *setup* with what kubelets keep."""
    if own.reserved is not None:
        return replace(setup, kube_reserved=own.reserved)
    as_told = kubelet.reservations is Reservations.AUTO
    by_gke = env.gke and env.kube_reserved is None if as_told else kubelet.reservations is Reservations.GKE
    kube_reserved, system_reserved = (env.kube_reserved or {}, env.system_reserved) if as_told else ({}, {})
    return replace(
        setup,
        reserved_by_gke=by_gke,
        kube_reserved={**kube_reserved, **_amounts(kubelet.kube_reserved)},
        system_reserved={**system_reserved, **_amounts(kubelet.system_reserved)},
    )


def _storage_ssds(launch: Launch, env: KubeEnv, kubelet: KubeletSettings) -> int:
    if kubelet.local_ssds_as_storage is not None:
        return launch.local_ssds if kubelet.local_ssds_as_storage else 0
    return min(env.storage_ssds or 0, launch.local_ssds)


def _amounts(quantities: Mapping[Reservable, str]) -> dict[str, int]:
    return parse_resources({str(name): quantity for name, quantity in quantities.items()})
