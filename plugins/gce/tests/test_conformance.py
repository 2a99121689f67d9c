"""Whether the core can trust the provider of Google Cloud."""

from datetime import timedelta

import pytest
from nodewright.api import ErrorClass, GpuConfig, InstanceState, ProviderContext, Taint
from nodewright.testing.conformance import Ability, Cloud, ExpectedTemplate, ProviderConformance
from nodewright.testing.conformance.provider import (
    GrowthConformance,
    LatenessConformance,
    OtherActionFaultConformance,
)
from nodewright_gce.config.gce import GceConfig
from nodewright_gce.provider import GceProvider
from nodewright_gce.testing import Trouble

ZONE = "europe-west1-b"
CHANGES = "*:create_instances|*:resize|*instance_group_manager_resize_requests:insert|*:delete_instances"
TROUBLES = {
    ErrorClass.STOCK_OUT: Trouble.STOCK_OUT,
    ErrorClass.QUOTA: Trouble.QUOTA,
    ErrorClass.PERMISSION: Trouble.PERMISSION,
    ErrorClass.CONFIGURATION: Trouble.IMAGE,
    ErrorClass.OTHER: Trouble.UNKNOWN,
}
_VARIABLES = (
    "node_labels=costCentre=Shop",
    "node_taints=dedicated=shop:NoSchedule",
    "extended_resources=example.com/licence=3",
    "kube_reserved=cpu=70m,memory=1019Mi",
    "autoscaling_options=scaledownunneededtime=2m0s",
)


class GceCloud(Cloud):
    """The double in the suite's words."""

    abilities = frozenset(Ability)
    failures = frozenset(ErrorClass)
    refusals = frozenset(ErrorClass)
    #: Whether the group grows all or nothing.
    bulk = False

    def __init__(self, double):
        self.double = double
        double.make_mig(
            "pool-web",
            size=2,
            bulk=self.bulk,
            kube_env={"AUTOSCALER_ENV_VARS": ";".join(_VARIABLES)},
            metadata={"nodewright-min-size": "1", "nodewright-max-size": "7"},
        )
        gpu = "node_labels=cloud.google.com/gke-accelerator=nvidia-l4"
        double.make_mig("pool-gpu", machine_type="g2-standard-4", kube_env={"AUTOSCALER_ENV_VARS": gpu})
        # Machines exist as soon as there is capacity for them; those that do not are orders that nothing came of.
        double.boots(None)
        # A refresh takes as many calls as there are groups, and may break down between them.
        double.shorten_pages(1)

    def provider(self):
        settings = self.double.config(
            zones=[ZONE], discover=[{"template": "pool-web-*"}, {"namePrefix": "pool-", "min": 0, "max": 1000}]
        )
        return GceProvider(GceConfig.model_validate(settings), ProviderContext(clock=self.double.clock))

    def group(self):
        return f"https://www.googleapis.com/compute/v1/projects/double/zones/{ZONE}/instanceGroups/pool-web"

    def other_group(self):
        return self.double.make_mig("pool-cheap", size=1).id

    def settle(self):
        self.double.clock.advance(60)
        self.double.settle()

    def secrets(self):
        return [self.double.secret]

    def expected_bounds(self):
        return {self.group(): (1, 7)}

    def expected_templates(self):
        return {
            self.group(): ExpectedTemplate(
                labels={
                    "costCentre": "Shop",
                    "kubernetes.io/arch": "amd64",
                    "node.kubernetes.io/instance-type": "n2-standard-8",
                    "topology.kubernetes.io/region": "europe-west1",
                    "topology.kubernetes.io/zone": ZONE,
                },
                taints=(Taint(key="dedicated", value="shop", effect="NoSchedule"),),
                capacity={"cpu": 8000, "pods": 110, "example.com/licence": 3},
                allocatable={"cpu": 7930},
            ),
            self.double.group_id("pool-gpu"): ExpectedTemplate(
                capacity={"cpu": 4000, "nvidia.com/gpu": 1},
                gpu=GpuConfig(label="cloud.google.com/gke-accelerator", type="nvidia-l4", resource="nvidia.com/gpu"),
            ),
        }

    def expected_options(self):
        return {self.group(): {"scale_down_unneeded_time": timedelta(minutes=2)}}

    def references(self):
        return {("GCEInstanceGroup", self.double.mig("pool-web").address.path): self.group()}

    def target(self, group):
        return self.double.mig(group).target

    def machines(self, group):
        return {machine.provider_id: _state(machine) for machine in self.double.machines(group) if machine.id}

    def resize(self, group, size):
        self.double.do("instance_group_managers", "resize", group, size=size)
        self.settle()

    def vanish(self, group):
        oldest = self.double.machines(group)[0]
        self.double.clock.advance(60)
        self.double.take_away(oldest)
        return self.node(oldest.provider_id)

    def hold(self):
        """Machines are in creation until the double settles."""

    def starve(self, group):
        self._run_out(group, silent=True)

    def fail(self, group, why):
        self._run_out(group, trouble=TROUBLES[why])

    def limit(self, group, machines):
        region, metric = "europe-west1", "N2_CPUS"
        self.double.set_quota(region, metric, self.double.quota(region, metric) + 8 * machines)
        # Quotas are read once a minute.
        self.double.clock.advance(60)

    def fail_unseen(self, group):
        self._run_out(group, unseen=True)
        return ErrorClass.STOCK_OUT

    def pause(self, group):
        self.double.steer(group)

    def stop(self, group):
        oldest = self.double.machines(group)[0]
        self.double.do("instance_group_managers", "stop_instances", group, instances=[oldest.path])
        self.settle()
        return self.node(oldest.provider_id)

    def remake(self, group):
        node = self.vanish(group)
        self.settle()
        # Nobody saw the group while it was at work: its machines are listed again when the last list is old.
        self.double.clock.advance(1200)
        return node

    def refuse(self, group, why):
        self._run_out(group, trouble=TROUBLES[why], at_once=True)

    def add_group(self):
        return self.double.make_mig("pool-new").id

    def remove_group(self, group):
        self.double.do("instance_group_managers", "delete", group)

    def throttle(self):
        self.double.faults.throttle()

    def deny(self):
        self.double.faults.deny("*")

    def cut(self):
        self.double.faults.drop()

    def break_after(self, calls):
        self.double.faults.drop().spared = calls

    def lose_answer(self):
        self.double.faults.drop(CHANGES, times=1, after=True)

    def delay(self):
        self.double.lags(3600)

    def delete_only(self, count):
        # Google deletes what one call names, or nothing of it.
        self.double.faults.throttle("*:delete_instances")

    def heal(self):
        self.double.faults.heal()
        self.double.restock()
        self.double.lags(0)
        self.double.steer(self.group(), steered=False)
        # Calls are refused until the minute ends.
        self.double.clock.advance(60)

    def calls(self):
        return self.double.calls.total()

    def populate(self, machines):
        self.double.make_mig("pool-crowd", size=machines)

    def _run_out(self, group, **shortage):
        self.double.run_out(migs=self.double.mig(group).name, **shortage)


def _state(machine):
    if machine.going:
        return InstanceState.DELETING
    if machine.target_status != "RUNNING":
        return InstanceState.STOPPED
    return InstanceState.RUNNING if machine.action == "NONE" else InstanceState.CREATING


class TestGceProvider(ProviderConformance):
    @pytest.fixture
    def cloud(self, double):
        return GceCloud(double)


class BulkCloud(GceCloud):
    """The same with a group that grows all or nothing."""

    bulk = True


class TestBulkGroup(GrowthConformance, OtherActionFaultConformance, LatenessConformance):
    @pytest.fixture
    def cloud(self, double):
        return BulkCloud(double)
