"""Managed instance groups (MIGs), as ``instanceGroupManagers`` writes them."""

from collections.abc import Mapping

from nodewright_gce.resources.resource import Resource


class Version(Resource, frozen=True, kw_only=True):
    """A template of a MIG with several. The one without a target size makes all other machines."""

    instance_template: str = ""
    name: str = ""
    target_size: Mapping[str, int | str] | None = None


class MigStatus(Resource, frozen=True, kw_only=True):
    """How a MIG is doing."""

    is_stable: bool = False
    #: URL of Google's own autoscaler that steers it.
    autoscaler: str = ""
    stateful: Mapping[str, object] = {}


class InstanceSelection(Resource, frozen=True, kw_only=True):
    """Machine types that a flexible MIG may take. Lower ranks come first."""

    machine_types: tuple[str, ...] = ()
    rank: int = 0


class FlexibilityPolicy(Resource, frozen=True, kw_only=True):
    """What a flexible MIG chooses from, by the name of the selection."""

    instance_selections: Mapping[str, InstanceSelection] = {}


class ZoneOfDistribution(Resource, frozen=True, kw_only=True):
    """A zone of a regional MIG."""

    zone: str = ""


class DistributionPolicy(Resource, frozen=True, kw_only=True):
    """How a regional MIG spreads its machines."""

    zones: tuple[ZoneOfDistribution, ...] = ()
    target_shape: str = "EVEN"


class UpdatePolicy(Resource, frozen=True, kw_only=True):
    """How a MIG replaces machines."""

    type: str = ""
    instance_redistribution_type: str = ""


class TargetSizePolicy(Resource, frozen=True, kw_only=True):
    """Whether a MIG grows machine by machine (``INDIVIDUAL``) or all or nothing (``BULK``)."""

    mode: str = "INDIVIDUAL"


class LifecyclePolicy(Resource, frozen=True, kw_only=True):
    """What a MIG does about machines that fail."""

    #: ``REPAIR`` or ``DO_NOTHING``.
    default_action_on_failure: str = "REPAIR"


class StandbyPolicy(Resource, frozen=True, kw_only=True):
    """How a MIG uses its stopped and suspended machines."""

    mode: str = "MANUAL"


class AllInstancesProperties(Resource, frozen=True, kw_only=True):
    """Metadata and labels on top of those of the template."""

    metadata: Mapping[str, str] = {}
    labels: Mapping[str, str] = {}


class AllInstancesConfig(Resource, frozen=True, kw_only=True):
    """What holds for all machines besides the template."""

    properties: AllInstancesProperties = AllInstancesProperties()


class Mig(Resource, frozen=True, kw_only=True):
    """A managed instance group."""

    name: str
    self_link: str = ""
    #: URLs; one of them is set.
    zone: str = ""
    region: str = ""
    base_instance_name: str = ""
    target_size: int = 0
    target_stopped_size: int = 0
    target_suspended_size: int = 0
    target_size_policy: TargetSizePolicy = TargetSizePolicy()
    instance_template: str = ""
    versions: tuple[Version, ...] = ()
    #: How many machines each kind of action is under way for; ``none`` counts those at rest.
    current_actions: Mapping[str, int] = {}
    status: MigStatus = MigStatus()
    instance_flexibility_policy: FlexibilityPolicy = FlexibilityPolicy()
    distribution_policy: DistributionPolicy = DistributionPolicy()
    update_policy: UpdatePolicy = UpdatePolicy()
    instance_lifecycle_policy: LifecyclePolicy = LifecyclePolicy()
    standby_policy: StandbyPolicy = StandbyPolicy()
    stateful_policy: Mapping[str, object] | None = None
    all_instances_config: AllInstancesConfig = AllInstancesConfig()
    list_managed_instances_results: str = "PAGELESS"
    fingerprint: str = ""

    @property
    def template(self) -> str:
        """The URL of the template of ordinary new machines: `versions` override `instance_template`."""
        for version in self.versions:
            if not version.target_size and version.instance_template:
                return version.instance_template
        return self.instance_template
