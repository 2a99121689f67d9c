"""Templates."""

from dataclasses import replace

from nodewright.api import Taint
from nodewright.testing import a_pod

from ..provider import ShedGroup, ShedProvider
from .registry import fails


class Changed(ShedGroup):
    """A group whose template is not quite right; *only* if it is of that name."""

    only = ""

    def template(self):
        template = super().template()
        return template if self.only not in ("", self.id) else replace(template, **self.change(template))


@fails("test_the_group_has_a_template")
class NoTemplate(ShedGroup):
    def template(self):
        return None if self.id == "web" else super().template()


@fails("test_a_group_without_machines_has_a_template")
class LooksAtItsMachines(ShedGroup):
    def template(self):
        return super().template() if self.rack.machines else None


@fails("test_templates_show_the_well_known_labels")
class NoZone(Changed):
    def change(self, template):
        return {"labels": {key: value for key, value in template.labels.items() if "zone" not in key}}


@fails("test_architectures_are_named_as_on_the_nodes")
class NamesOfTheMaker(Changed):
    def change(self, template):
        return {"labels": {**template.labels, "kubernetes.io/arch": "x86_64"}}


@fails("test_the_template_stays_the_same")
class TellsWhenItWasRead(ShedProvider):
    refreshes = 0

    def refresh(self):
        super().refresh()
        self.refreshes += 1

    class group_class(Changed):  # noqa: N801  takes the attribute's place
        only = "web"

        def change(self, template):
            return {"annotations": {"shed.example/reading": str(self.provider.refreshes)}}


@fails("test_templates_have_labels_that_nodes_can_have")
class TagsAsLabels(Changed):
    def change(self, template):
        return {"labels": {**template.labels, "Cost Centre": "garden & shed"}}


@fails("test_templates_have_taints_that_nodes_can_have")
class EffectsInLowerCase(Changed):
    only = "web"

    def change(self, template):
        return {"taints": (Taint(key="a", value="b", effect="noschedule"),)}


@fails("test_resources_are_whole_numbers")
class Fractions(Changed):
    def change(self, template):
        return {"allocatable": {**template.allocatable, "memory": template.allocatable["memory"] * 0.9}}


@fails("test_pods_find_room")
class NoRoomForPods(Changed):
    def change(self, template):
        return {"allocatable": {name: amount for name, amount in template.allocatable.items() if name != "pods"}}


@fails("test_cpu_is_in_milli_cores")
class CountsInCores(Changed):
    only = "web"

    def change(self, template):
        return {"capacity": {**template.capacity, "cpu": 4}, "allocatable": {**template.allocatable, "cpu": 3}}


@fails("test_memory_is_in_bytes")
class CountsInKibibytes(Changed):
    only = "web"

    def change(self, template):
        less = {"memory": template.allocatable["memory"] >> 10}
        return {"capacity": {**template.capacity, **less}, "allocatable": {**template.allocatable, **less}}


@fails("test_no_more_is_allocatable_than_there_is")
class PromisesMore(Changed):
    def change(self, template):
        return {"allocatable": {**template.allocatable, "memory": template.capacity["memory"] + 1}}


@fails("test_daemon_sets_are_left_to_the_core")
class BringsDaemons(Changed):
    def change(self, template):
        return {"pods": (a_pod("agent", owner="DaemonSet/agent"),)}


@fails("test_templates_show_the_labels_of_their_group")
class LosesLabels(Changed):
    def change(self, template):
        return {"labels": {key: value for key, value in template.labels.items() if key != "shed.example/label"}}


@fails("test_templates_show_the_taints_of_their_group")
class LosesTaints(Changed):
    only = "gpu"

    def change(self, template):
        return {"taints": ()}


@fails("test_templates_show_the_resources_of_their_group")
class ReservesNothing(Changed):
    def change(self, template):
        return {"allocatable": template.capacity}


@fails("test_gpus_are_named_as_on_the_nodes")
class AnotherType(ShedProvider):
    def gpu_config(self, labels):
        named = super().gpu_config(labels)
        return named and replace(named, type=named.type.upper())


@fails("test_gpus_can_be_used_by_pods")
class LabelsWithoutGpus(Changed):
    only = "web"

    def change(self, template):
        return {"labels": {**template.labels, "shed.example/gpu": "tesla"}}


@fails("test_a_node_without_gpus_has_none")
class GpusOnOldNodes(ShedProvider):
    """Takes nodes that don't tell their model for what there was before models."""

    def gpu_config(self, labels):
        old = "node.kubernetes.io/instance-type" not in labels
        return super().gpu_config({self.gpu_label: "tesla"} if old else labels)
