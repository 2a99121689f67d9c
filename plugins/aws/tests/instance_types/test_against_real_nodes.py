"""What is foreseen of a node, against what nodes in public texts say of themselves."""

from dataclasses import dataclass, replace

import pytest
from nodewright.api import parse_quantity
from nodewright_aws.config import AmiFamily, KubeletSettings
from nodewright_aws.instance_types.allocatable import capacity_and_allocatable
from nodewright_aws.instance_types.table import bundled

KARPENTER_TEST = "aws/karpenter-provider-aws, pkg/providers/instancetype/suite_test.go: nodes' status.allocatable"
KARPENTER_DOCS = "aws/karpenter-provider-aws, website/content/en/docs/concepts/nodeclaims.md: log of a node, June 2024"
JUPYTER = "2i2c-org/infrastructure, deployer: instance_capacities.yaml and node-capacity-info.json, 2023 and 2024"
PALETTE = "spectrocloud/librarium, clusters/public-cloud/aws/configure-karpenter-eks-clusters.md: log of October 2025"
RANCHER = "rancher/dashboard, cypress/e2e/blueprints/manager/hosted-cluster-mocks.ts: nodes of February 2026"
NEURON_BLOG = "sirzzang/sirzzang.github.io, Kubernetes-LLM-Serving-Optimization-08-02: nodes of September 2026"
PYTORCH = "pytorch/ci-infra#1082: measured in September 2026"
C5N_ISSUE = "aws/karpenter-provider-aws#1959: June 2022"
I4I_ISSUE = "aws/karpenter-provider-aws#6611: July 2024"
INFERENTIA_WORKSHOP = (
    "aws-samples/eks-workshop-v2, website/docs/aiml/inferentia/inference.md: status.capacity of a node"
)
TRAINING = "gnosia93/training-on-eks, chapter: nodes of December 2025, kernel 6.12"
ARMED = "andrezc98/armed-and-dangerous, results/2026-09-24/inventory/nodes-all.json: Bottlerocket 1.66, kernel 6.18"
SCALE_OUT_LOOP = "a text on aws/karpenter-provider-aws#8205: kubectl describe node, November 2025"


def described(node: str) -> str:
    """Name as the source what somebody has published of a *node*, which is found by its name."""
    return f"kubectl describe node {node}"


@dataclass(frozen=True, kw_only=True)
class Reported:
    """A node, as far as somebody has published what it reports as allocatable."""

    name: str
    family: AmiFamily
    memory: str
    source: str
    cpu: str = ""
    pods: int = 0
    storage: int = 0
    #: Of the volume that holds what pods write.
    disk_gib: int = 20

    def __str__(self) -> str:
        return f"{self.name}-{self.family}"


def al2(
    name: str, memory: str, source: str, cpu: str = "", pods: int = 0, storage: int = 0, disk_gib: int = 20
) -> Reported:
    return Reported(
        name=name,
        family=AmiFamily.AL2,
        memory=memory,
        source=source,
        cpu=cpu,
        pods=pods,
        storage=storage,
        disk_gib=disk_gib,
    )


def al2023(
    name: str, memory: str, source: str, cpu: str = "", pods: int = 0, storage: int = 0, disk_gib: int = 20
) -> Reported:
    return replace(al2(name, memory, source, cpu, pods, storage, disk_gib), family=AmiFamily.AL2023)


def bottlerocket(name: str, memory: str, source: str, cpu: str = "", pods: int = 0) -> Reported:
    return replace(al2(name, memory, source, cpu, pods), family=AmiFamily.BOTTLEROCKET)


#: What the estimate is fitted to.
FITTED = [
    al2("t4g.small", "1408312Ki", KARPENTER_TEST, "1930m"),
    al2("t4g.medium", "3377496Ki", KARPENTER_TEST, "1930m"),
    al2("t4g.xlarge", "15136012Ki", KARPENTER_TEST, "3920m"),
    al2("c3.2xlarge", "14320468Ki", KARPENTER_DOCS, "7910m", 58, 18_242_267_924),
    # Of several machines, the one with the least; see MORE_THAN_OTHERS.
    al2("m5.large", "6.803Gi", JUPYTER, "1930m"),
    al2("m5.xlarge", "14.202Gi", JUPYTER, "3920m"),
    al2("g4dn.xlarge", "14.666Gi", JUPYTER, "3920m"),
    al2("g4dn.2xlarge", "30.227Gi", JUPYTER, "7910m"),
    al2("r5.xlarge", "29.916Gi", JUPYTER, "3920m"),
    al2("r5.2xlarge", "65640685568", JUPYTER, "7910m"),
    al2("r5.4xlarge", "121.492Gi", JUPYTER, "15890m"),
    al2("r5.16xlarge", "490.108Gi", JUPYTER, "63770m"),
    al2("r7i.xlarge", "32048037888", JUPYTER, "3920m"),
    al2("r7i.4xlarge", "129847705600", JUPYTER, "15890m"),
    al2("i4i.32xlarge", "1007423Mi", I4I_ISSUE),
    al2023("t3.medium", "3371436Ki", RANCHER, "1930m", 17, 18_181_869_946),
    al2023("c6a.2xlarge", "14967996Ki", PALETTE, "7910m", 58, 18_181_869_946),
    al2023("c7a.medium", "1471060Ki", PALETTE, "940m", 8, 18_181_869_946),
    al2023("trn1.2xlarge", "31315408Ki", NEURON_BLOG, "7910m", 58, 95_491_281_146, 100),
    al2023("g6.4xlarge", "58981Mi", PYTORCH),
    al2023("p4d.24xlarge", "1167634920Ki", TRAINING, "95690m", 737, 288_764_809_146, 300),
    al2023("m8g.large", "7257988Ki", SCALE_OUT_LOOP, "1930m", 29, 18_182_813_665),
]

#: What was found when the estimate was there, and has changed nothing of it.
NOT_FITTED = [
    al2("m5.large", "7134168Ki", described("ip-192-168-18-171.eu-west-1"), "1930m", 29, 76_224_326_324, 80),
    al2("m5.2xlarge", "31050408Ki", described("ip-192-168-42-135.ec2.internal"), "7910m", 0, 76_224_326_324, 80),
    al2("m5.4xlarge", "61334028Ki", described("ip-192-168-1-128.us-west-1"), "15890m", 0, 18_242_267_924),
    al2("m6i.large", "7291820Ki", "a text on prefix delegation with Cilium on EKS", "1930m", 0, 18_242_267_924),
    al2("t3.xlarge", "15164892Ki", "a script that sets up smartscaler-inference", "3920m", 58),
    al2("t4g.xlarge", "15136204Ki", "Karpenter's log of node ip-10-0-55-209.us-east-2", "3920m", 58, 18_233_774_458),
    al2023("t3.medium", "3376720Ki", described("ip-192-168-12-156.ap-south-1"), "1930m", 17, 18_181_869_946),
    al2023("t3.large", "7248300Ki", described("ip-192-168-129-187.us-east-2"), "1930m", 35, 47_172_899_146, 50),
    al2023("t4g.medium", "3373212Ki", "Karpenter's log of node ip-10-10-210-100", "1930m", 0, 18_182_813_665),
    al2023("c4.2xlarge", "14325300Ki", "Karpenter's log of node ip-192-168-2-97, September 2026", "7910m", 58),
    al2023("g4dn.xlarge", "15474676Ki", described("ip-10-0-1-230.ec2.internal"), "3920m", 29, 18_181_869_946),
    al2023("g6.xlarge", "14719096Ki", described("ip-10-0-13-72.ec2.internal"), "3920m", 58, 95_491_281_146, 100),
    al2023("g6.12xlarge", "187596060Ki", TRAINING, "47810m", 234, 288_764_809_146, 300),
    bottlerocket("m7g.large", "7258428Ki", ARMED, "1930m", 29),
    bottlerocket("c7i.8xlarge", "61771080Ki", ARMED, "31850m", 234),
]
REPORTED = [*FITTED, *NOT_FITTED]

#: What nodes report as capacity, whose owners have reservations of their own.
CAPACITIES = {
    "g6e.12xlarge": ("390834728Ki", described("ip-10-10-3-26.ec2.internal")),
    "m8a.4xlarge": ("64600296Ki", ARMED),
    "c6a.large": ("3881108Ki", "a text that compares c6a.large with AWS' pages"),
    "r6i.2xlarge": ("64779052Ki", described("ip-10-142-202-95.ec2.internal") + ", Ubuntu, kernel 6.8"),
}

#: Types that many use: these have to be among those compared.
COMMON = {
    *("t3.medium", "t3.large", "t3.xlarge", "t4g.medium", "m5.large", "m5.xlarge", "m5.2xlarge", "m5.4xlarge"),
    *("m6i.large", "m6i.xlarge", "m6g.large", "m7g.large", "c5.large", "c6i.xlarge", "c7g.large", "r5.large"),
    *("r5.xlarge", "r6i.large", "g4dn.xlarge", "i3.large"),
}

#: Machines of one type are not all alike: these have more to give than the least of their type, which counts.
MORE_THAN_OTHERS = [
    al2("m5.large", "7220184Ki", KARPENTER_TEST),
    al2("m5.large", "6.885Gi", JUPYTER),
    al2("m5.large", "7260860Ki", "kubectl describe node, 2020, kernel 4.14"),
    al2("m5.xlarge", "14.375Gi", JUPYTER),
]

#: Bytes that are missing from status.capacity of Bottlerocket nodes against what EC2 sells, as measured in July 2023:
#: aws/karpenter-provider-aws#4517 at commit 15e87699c9922be5431e71225f54e6716fa48428.
MISSING_ON_BOTTLEROCKET = {
    "t3.small": 137_269_248,
    "t3.medium": 264_945_664,
    "t3.large": 382_386_176,
    "t3.xlarge": 617_746_432,
    "t3.2xlarge": 1_088_487_424,
    "t3a.medium": 252_362_752,
    "t3a.large": 359_317_504,
    "t3a.xlarge": 571_609_088,
    "t4g.medium": 268_038_144,
    "t4g.large": 391_708_672,
    "m5a.large": 539_660_288,
    "m5a.xlarge": 819_068_928,
    "m5n.xlarge": 733_085_696,
    "m6a.large": 470_466_560,
    "m6a.xlarge": 793_907_200,
    "m6g.large": 473_333_760,
    "m6g.xlarge": 802_529_280,
    "m6g.4xlarge": 2_773_532_672,
    "m6i.large": 424_321_024,
    "m6i.xlarge": 703_729_664,
    "m6i.2xlarge": 1_262_546_944,
    "m6i.4xlarge": 2_380_177_408,
    "m6i.12xlarge": 6_750_072_832,
    "m7g.large": 439_844_864,
    "m7g.xlarge": 735_551_488,
    "c5.large": 453_677_056,
    "c5a.large": 264_941_568,
    "c5a.xlarge": 382_857_216,
    "c5n.xlarge": 695_332_864,
    "c6a.xlarge": 470_949_888,
    "c6g.large": 293_154_816,
    "c6g.xlarge": 440_082_432,
    "c6i.large": 285_917_184,
    "c6i.xlarge": 424_804_352,
    "c6i.2xlarge": 704_696_320,
    "c6i.4xlarge": 1_264_484_352,
    "c7g.large": 293_154_816,
    "c7g.2xlarge": 736_026_624,
    "r5.large": 732_602_368,
    "r5.xlarge": 1_202_855_936,
    "r5a.large": 686_465_024,
    "r6g.large": 636_944_384,
    "r6i.large": 703_246_336,
    "r6i.xlarge": 1_261_580_288,
    "r7g.large": 735_313_920,
    "i3.large": 412_696_576,
    "i3en.xlarge": 1_202_855_936,
    "i4i.xlarge": 1_261_588_480,
    "g4dn.xlarge": 733_085_696,
    "g5.xlarge": 617_742_336,
    "g5.12xlarge": 5_693_108_224,
    "m4.xlarge": 425_283_584,
    "c4.2xlarge": 408_506_368,
    "m6g.metal": 5_156_216_832,
}


def foreseen(
    name: str, family: AmiFamily, volume_gib: int | None = None, *, max_pods: int | None = None
) -> dict[str, int]:
    info = bundled().get(name)
    assert info is not None
    kubelet = KubeletSettings(ami_family=family, max_pods=max_pods or "auto")
    return dict(capacity_and_allocatable(info, kubelet, root_volume_gib=volume_gib)[1])


@pytest.mark.parametrize("node", REPORTED, ids=str)
def test_allocatable_memory_is_within_one_percent_of_what_a_node_reports_and_never_above(node) -> None:
    memory, reported = foreseen(node.name, node.family)["memory"], parse_quantity(node.memory)
    assert 0.99 * reported <= memory <= reported, f"{100 * memory / reported - 100:.2f} %, see {node.source}"


@pytest.mark.parametrize("node", [node for node in REPORTED if node.cpu], ids=str)
def test_allocatable_cpu_is_what_a_node_reports(node) -> None:
    assert foreseen(node.name, node.family)["cpu"] == parse_quantity(node.cpu, scale=3), node.source


@pytest.mark.parametrize("node", [node for node in REPORTED if node.pods], ids=str)
def test_allocatable_pods_are_what_a_node_reports(node) -> None:
    assert foreseen(node.name, node.family)["pods"] == node.pods, node.source


@pytest.mark.parametrize("node", [node for node in REPORTED if node.storage], ids=str)
def test_allocatable_storage_is_what_a_node_reports_to_the_byte(node) -> None:
    allocatable = foreseen(node.name, node.family, node.disk_gib)
    assert allocatable["ephemeral-storage"] == node.storage, node.source


@pytest.mark.parametrize("node", MORE_THAN_OTHERS, ids=str)
def test_a_type_whose_machines_differ_counts_for_the_least_of_them(node) -> None:
    memory, reported = foreseen(node.name, node.family)["memory"], parse_quantity(node.memory)
    assert 0.97 * reported <= memory <= reported, f"{100 * memory / reported - 100:.2f} %, see {node.source}"


def test_bottlerocket_that_lets_in_more_pods_than_interfaces_have_addresses_for_is_foreseen_as_well() -> None:
    memory = foreseen("c5n.xlarge", AmiFamily.BOTTLEROCKET, max_pods=110)["memory"]
    reported = parse_quantity("8739468Ki")
    assert 0.99 * reported <= memory <= reported, C5N_ISSUE


@pytest.mark.parametrize("name", CAPACITIES)
def test_capacity_is_within_one_percent_of_what_a_node_reports_and_never_above(name) -> None:
    memory, source = CAPACITIES[name]
    info = bundled().get(name)
    assert info is not None
    capacity = capacity_and_allocatable(info, KubeletSettings(), root_volume_gib=None)[0]["memory"]
    assert 0.99 * parse_quantity(memory) <= capacity <= parse_quantity(memory), source


def test_a_managed_group_on_bottlerocket_reserves_for_as_many_pods_as_eks_lets_in() -> None:
    info = bundled().get("m8a.4xlarge")
    assert info is not None
    kubelet = KubeletSettings(ami_family=AmiFamily.BOTTLEROCKET, max_pods="managed")
    capacity, allocatable = capacity_and_allocatable(info, kubelet, root_volume_gib=20)
    assert allocatable["pods"] == 110, ARMED
    assert capacity["memory"] - allocatable["memory"] == parse_quantity("64600296Ki") - parse_quantity("62997736Ki")
    assert allocatable["ephemeral-storage"] <= 18_159_242_823, ARMED


def test_twenty_types_that_many_use_are_among_those_compared() -> None:
    assert len(COMMON) == 20
    assert not COMMON - {node.name for node in REPORTED} - MISSING_ON_BOTTLEROCKET.keys()


@pytest.mark.parametrize("name", MISSING_ON_BOTTLEROCKET)
def test_allocatable_memory_is_within_one_percent_of_what_a_bottlerocket_node_reports_and_never_above(name) -> None:
    info = bundled().get(name)
    assert info is not None
    allocatable = foreseen(name, AmiFamily.BOTTLEROCKET)
    reserved_mib = 255 + 11 * allocatable["pods"] + 100
    reported = (info.memory_mib - reserved_mib) * 1024**2 - MISSING_ON_BOTTLEROCKET[name]
    assert 0.99 * reported <= allocatable["memory"] <= reported, f"{100 * allocatable['memory'] / reported - 100:.2f} %"
