"""Instance types as DescribeInstanceTypes tells of them."""

from nodewright_aws.instance_types.info import Gpu, InstanceTypeInfo, parse_instance_type_info

LEAST = {"InstanceType": "x9.large", "VCpuInfo": {"DefaultVCpus": 2}, "MemoryInfo": {"SizeInMiB": 4096}}


def test_a_type_of_which_aws_tells_next_to_nothing_is_a_plain_machine() -> None:
    assert parse_instance_type_info(LEAST) == InstanceTypeInfo(
        name="x9.large", vcpus=2, memory_mib=4096, arch="", spot=False, on_demand=False
    )


def test_interfaces_are_those_of_the_card_that_pods_use() -> None:
    cards = [
        {"NetworkCardIndex": 0, "MaximumNetworkInterfaces": 2},
        {"NetworkCardIndex": 1, "MaximumNetworkInterfaces": 7},
    ]
    network = {
        "DefaultNetworkCardIndex": 1,
        "MaximumNetworkInterfaces": 9,
        "Ipv4AddressesPerInterface": 50,
        "NetworkCards": cards,
    }
    info = parse_instance_type_info({**LEAST, "NetworkInfo": network})
    assert (info.interfaces, info.addresses_per_interface) == (7, 50)


def test_gpus_and_neuron_devices_are_counted() -> None:
    gpus = [{"Name": "L4", "Manufacturer": "NVIDIA", "Count": 4, "MemoryInfo": {"SizeInMiB": 22888}}]
    devices = [{"Name": "Trainium", "Count": 16, "CoreInfo": {"Count": 2, "Version": 2}}]
    info = parse_instance_type_info({**LEAST, "GpuInfo": {"Gpus": gpus}, "NeuronInfo": {"NeuronDevices": devices}})
    assert info.gpu == Gpu(name="L4", manufacturer="NVIDIA", count=4, memory_mib=22888)
    assert (info.neuron_devices, info.neuron_cores) == (16, 32)


def test_only_nvme_disks_count_as_local() -> None:
    disks = {"TotalSizeInGB": 1900, "Disks": [{"Count": 2, "SizeInGB": 950, "Type": "ssd"}]}
    nvme = parse_instance_type_info({**LEAST, "InstanceStorageInfo": {**disks, "NvmeSupport": "required"}})
    older = parse_instance_type_info({**LEAST, "InstanceStorageInfo": {**disks, "NvmeSupport": "unsupported"}})
    assert (nvme.local_disk_gb, nvme.local_disks) == (1900, 2)
    assert (older.local_disk_gb, older.local_disks) == (0, 0)


def test_bare_metal_has_no_hypervisor() -> None:
    info = parse_instance_type_info({**LEAST, "InstanceType": "x9.metal", "BareMetal": True})
    assert info.bare_metal
    assert info.family == "x9"
    assert not parse_instance_type_info({**LEAST, "Hypervisor": "xen"}).bare_metal


def test_architectures_are_named_as_kubernetes_names_them() -> None:
    def arch(*names):
        return parse_instance_type_info({**LEAST, "ProcessorInfo": {"SupportedArchitectures": list(names)}}).arch

    assert arch("i386", "x86_64") == "amd64"
    assert arch("arm64") == "arm64"
    assert arch("arm64_mac") == "arm64_mac"


def test_a_type_tells_how_it_can_be_bought_and_what_may_be_attached() -> None:
    ebs = {"MaximumEbsAttachments": 32, "AttachmentLimitType": "dedicated"}
    info = parse_instance_type_info({**LEAST, "EbsInfo": ebs, "SupportedUsageClasses": ["capacity-block", "on-demand"]})
    assert (info.ebs_attachments, info.ebs_shared_limit) == (32, False)
    assert (info.on_demand, info.spot) == (True, False)
