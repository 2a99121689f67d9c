"""Templates: what a new node looks like."""

import re
from collections.abc import Iterator, Mapping

import pytest

from nodewright.api import Capability, NodeGroup, NodeTemplate, Provider
from nodewright.testing.conformance.cloud import Cloud, ExpectedTemplate
from nodewright.testing.conformance.provider.base import (
    ProviderSuite,
    declares,
    facts,
    group_of,
    reread,
    template_of,
)

_TYPE = "node.kubernetes.io/instance-type"
_WELL_KNOWN = (
    "kubernetes.io/arch",
    "kubernetes.io/os",
    _TYPE,
    "topology.kubernetes.io/zone",
)
#: As Go calls them, and with it the kubelet.
_ARCHITECTURES = ("386", "amd64", "arm", "arm64", "loong64", "mips64le", "ppc64le", "riscv64", "s390x")
_SYSTEMS = ("linux", "windows")
_NEEDED = ("cpu", "memory", "pods")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_VALUE = re.compile(r"([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?")
_KEY = re.compile(r"([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
#: A tenth of a core. A lower number is probably one of whole cores.
_LEAST_CPU = 100
#: Ten thousand cores. A higher number is probably one of micro-cores or less.
_MOST_CPU = 10_000_000
#: Of capacity. No node could start with less, so a lower number is probably one of KiB or MiB.
_LEAST_MEMORY = 256 << 20
#: What is counted in bytes, with the smallest plausible amount; pods may be left with little.
_BYTES = {"memory": 32 << 20, "ephemeral-storage": 1 << 20}


@declares(Capability.SCALE_FROM_ZERO)
class TemplateConformance(ProviderSuite):
    """`NodeGroup.template`."""

    def test_the_group_has_a_template(self, group: NodeGroup) -> None:
        """A provider that declares scale-from-zero knows what a node of the group looks like."""
        assert group.template() is not None, f"template() of group {group.id} is None"

    def test_a_group_without_machines_has_a_template(self, provider: Provider) -> None:
        """Templates do not come from machines that are there: groups that have none can grow as well."""
        empty = [each for each in facts(provider) if not (each.error or each.target_size or each.instances)]
        if not empty:
            pytest.skip("all groups have machines: give the cloud a group that has none")
        names = ", ".join(each.id for each in empty)
        assert any(each.template for each in empty), f"groups without machines have no template: {names}"

    def test_templates_show_the_well_known_labels(self, provider: Provider) -> None:
        """Every template has labels for zone, architecture and system, and for the type unless pools name several."""
        for group in facts(provider):
            if group.template is None:
                continue
            types = {pool.split("/")[1] for pool in group.pools if pool.count("/")}
            known = [label for label in _WELL_KNOWN if label != _TYPE or len(types) < 2]
            missing = [label for label in known if not group.template.labels.get(label)]
            assert not missing, f"the template of group {group.id} lacks labels: {', '.join(missing)}"

    def test_architectures_are_named_as_on_the_nodes(self, provider: Provider) -> None:
        """Architecture and operating system are labelled as kubelets do it: amd64 and arm64, linux and windows."""
        for name, template in _templates(provider):
            for label, known in (("kubernetes.io/arch", _ARCHITECTURES), ("kubernetes.io/os", _SYSTEMS)):
                told = template.labels.get(label)
                assert not told or told in known, (
                    f"the template of group {name} has label {label}={told}, which no kubelet sets: {', '.join(known)}"
                )

    def test_the_template_stays_the_same(self, provider: Provider, group: NodeGroup) -> None:
        """While nothing happens to a group, its template is the same after every refresh."""
        before = group.template()
        after = reread(provider, group).template()
        assert after == before, f"nothing happened to group {group.id}, but its template went from {before} to {after}"

    def test_templates_have_labels_that_nodes_can_have(self, provider: Provider) -> None:
        """Labels keep to the rules of Kubernetes, whatever the cloud allows in its tags."""
        for name, template in _templates(provider):
            wrong = {
                key: value
                for key, value in template.labels.items()
                if not _KEY.fullmatch(key) or not _VALUE.fullmatch(value)
            }
            assert not wrong, f"the template of group {name} has labels that no node can have: {wrong}"

    def test_templates_have_taints_that_nodes_can_have(self, provider: Provider) -> None:
        """Taints have a key and one of the three effects."""
        for name, template in _templates(provider):
            wrong = [str(taint) for taint in template.taints if not taint.key or taint.effect not in _EFFECTS]
            assert not wrong, f"the template of group {name} has taints that no node can have: {wrong}"

    def test_resources_are_whole_numbers(self, provider: Provider) -> None:
        """All amounts are integers that are not negative."""
        for name, template in _templates(provider):
            wrong = {
                resource: amount
                for amounts in (template.capacity, template.allocatable)
                for resource, amount in amounts.items()
                if type(amount) is not int or amount < 0
            }
            assert not wrong, f"the template of group {name} has amounts that are no whole numbers: {wrong}"

    def test_pods_find_room(self, provider: Provider) -> None:
        """cpu, memory and pods are in capacity and allocatable, and not zero."""
        for name, template in _templates(provider):
            for kind, amounts in (("capacity", template.capacity), ("allocatable", template.allocatable)):
                missing = [resource for resource in _NEEDED if not amounts.get(resource)]
                assert not missing, f"the template of group {name} has no {', '.join(missing)} in its {kind}"

    def test_cpu_is_in_milli_cores(self, provider: Provider) -> None:
        """cpu is counted in milli-cores: 2000 for two cores."""
        for name, template in _templates(provider):
            for kind, amounts in (("capacity", template.capacity), ("allocatable", template.allocatable)):
                amount = amounts.get("cpu", _LEAST_CPU)
                told = f"the template of group {name} has {amount} cpu in its {kind}"
                assert _LEAST_CPU <= amount <= _MOST_CPU, f"{told}: count in milli-cores, 2000 for two cores"

    def test_memory_is_in_bytes(self, provider: Provider) -> None:
        """Memory is counted in bytes, and so is ephemeral storage."""
        for name, template in _templates(provider):
            amount = template.capacity.get("memory", _LEAST_MEMORY)
            assert amount >= _LEAST_MEMORY, f"the template of group {name} has {amount} of memory: count in bytes"
            for kind, amounts in (("capacity", template.capacity), ("allocatable", template.allocatable)):
                wrong = {each: amounts[each] for each, least in _BYTES.items() if 0 < amounts.get(each, 0) < least}
                assert not wrong, f"the template of group {name} has {wrong} in its {kind}: count in bytes"

    def test_no_more_is_allocatable_than_there_is(self, provider: Provider) -> None:
        """Of each resource, allocatable is no more than capacity."""
        for name, template in _templates(provider):
            wrong = {
                resource: (amount, template.capacity.get(resource, 0))
                for resource, amount in template.allocatable.items()
                if amount > template.capacity.get(resource, 0)
            }
            assert not wrong, f"the template of group {name} lets pods use more than there is (of): {wrong}"

    def test_daemon_sets_are_left_to_the_core(self, provider: Provider) -> None:
        """`NodeTemplate.pods` holds static pods only: the core adds those of DaemonSets, and counts them once."""
        for name, template in _templates(provider):
            wrong = [
                pod.key
                for pod in template.pods
                if any(owner.kind == "DaemonSet" for owner in pod.metadata.owner_references)
            ]
            assert not wrong, f"the template of group {name} brings pods of DaemonSets: {wrong}"

    def test_templates_show_the_labels_of_their_group(self, cloud: Cloud, provider: Provider) -> None:
        """Labels that the cloud's set-up gives to nodes are labels of the template."""
        for name, template, expected in _expected(cloud, provider):
            shown = {key: template.labels.get(key) for key in expected.labels}
            assert shown == expected.labels, f"nodes of group {name} have {expected.labels}, its template has {shown}"

    def test_templates_show_the_taints_of_their_group(self, cloud: Cloud, provider: Provider) -> None:
        """Taints that the cloud's set-up gives to nodes are taints of the template, and there are no others."""
        for name, template, expected in _expected(cloud, provider):
            if expected.taints is not None:
                shown, wanted = sorted(map(str, template.taints)), sorted(map(str, expected.taints))
                assert shown == wanted, f"nodes of group {name} have taints {wanted}, its template has {shown}"

    def test_templates_show_the_resources_of_their_group(self, cloud: Cloud, provider: Provider) -> None:
        """Capacity and allocatable are those that nodes of the group have, extended resources included."""
        for name, template, expected in _expected(cloud, provider):
            for kind in ("capacity", "allocatable"):
                wanted: Mapping[str, int] = getattr(expected, kind)
                shown = {resource: getattr(template, kind).get(resource) for resource in wanted}
                assert shown == wanted, f"nodes of group {name} have {kind} {wanted}, its template has {shown}"

    def test_gpus_are_named_as_on_the_nodes(self, cloud: Cloud, provider: Provider) -> None:
        """`gpu_config` returns label, type and resource of the GPUs of a group."""
        for name, template, expected in _expected(cloud, provider):
            if expected.gpu is not None:
                told = provider.gpu_config(template.labels)
                assert told == expected.gpu, f"GPUs of group {name} are {expected.gpu}, gpu_config tells {told}"

    def test_gpus_can_be_used_by_pods(self, provider: Provider) -> None:
        """If `gpu_config` names GPUs, and no DRA driver, their resource is allocatable in the template."""
        for name, template in _templates(provider):
            gpu = provider.gpu_config(template.labels)
            if gpu is not None and not gpu.dra_driver:
                amount = template.allocatable.get(gpu.resource, 0)
                assert amount > 0, f"group {name} has GPUs {gpu.type}, its template has no {gpu.resource} for pods"

    def test_a_node_without_gpus_has_none(self, provider: Provider) -> None:
        """`gpu_config` is None for labels without a GPU label."""
        told = provider.gpu_config({"kubernetes.io/os": "linux"})
        assert told is None, f"gpu_config tells {told} of a node whose labels tell of no GPU"


def _templates(provider: Provider) -> Iterator[tuple[str, NodeTemplate]]:
    for group in provider.groups():
        template = template_of(group)
        if template is not None:
            yield group.id, template


def _expected(cloud: Cloud, provider: Provider) -> Iterator[tuple[str, NodeTemplate, ExpectedTemplate]]:
    expectations = cloud.expected_templates()
    if not expectations:
        pytest.skip("the cloud under test can't tell what templates must show")
    for name, expected in expectations.items():
        template = group_of(provider, name).template()
        if template is None:
            pytest.fail(f"template() of group {name} is None, though the cloud tells what it must show")
        yield name, template, expected
