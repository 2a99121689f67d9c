"""How the nodes of a group are set up: operating system, disks, and what kubelets keep."""

from collections.abc import Mapping

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
    ssds = _storage_ssds(launch, env, kubelet)
    by_settings = kubelet.reservations is not Reservations.AUTO
    by_gke = kubelet.reservations is Reservations.GKE or (not by_settings and env.gke and env.kube_reserved is None)
    told = own.reserved is None and not by_settings
    kube_reserved = {**((env.kube_reserved or {}) if told else {}), **_amounts(kubelet.kube_reserved)}
    system_reserved = {**(env.system_reserved if told else {}), **_amounts(kubelet.system_reserved)}
    return NodeSetup(
        distribution=distribution,
        max_pods=own.max_pods or kubelet.max_pods or env.max_pods or _MAX_PODS,
        boot_disk_gib=None if env.boot_disk_blocked else launch.boot_disk_gib,
        storage_ssds=ssds,
        storage_ssd_gib=launch.local_ssd_gib,
        reserved_by_gke=by_gke and own.reserved is None,
        kube_reserved=kube_reserved if own.reserved is None else own.reserved,
        system_reserved=system_reserved if own.reserved is None else {},
        eviction={**env.eviction, **{str(signal): text for signal, text in kubelet.eviction_hard.items()}},
        encrypted_memory=launch.encrypted_memory,
        memory_overhead=kubelet.memory_overhead,
    )


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


def _storage_ssds(launch: Launch, env: KubeEnv, kubelet: KubeletSettings) -> int:
    if kubelet.local_ssds_as_storage is not None:
        return launch.local_ssds if kubelet.local_ssds_as_storage else 0
    return min(env.storage_ssds or 0, launch.local_ssds)


def _amounts(quantities: Mapping[Reservable, str]) -> dict[str, int]:
    return parse_resources({str(name): quantity for name, quantity in quantities.items()})
