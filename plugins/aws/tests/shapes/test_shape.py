"""Instance types as DescribeInstanceTypes tells of them."""

from nodewright_aws.shapes.shape import Gpu, Shape, parse_shape

LEAST = {"InstanceType": "x9.large", "VCpuInfo": {"DefaultVCpus": 2}, "MemoryInfo": {"SizeInMiB": 4096}}


def test_a_type_of_which_aws_tells_next_to_nothing_is_a_plain_machine():
    assert parse_shape(LEAST) == Shape(name="x9.large", vcpus=2, memory_mib=4096, arch="", spot=False, on_demand=False)


def test_interfaces_are_those_of_the_card_that_pods_use():
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
    shape = parse_shape({**LEAST, "NetworkInfo": network})
    assert (shape.interfaces, shape.addresses_per_interface) == (7, 50)


def test_gpus_and_neuron_devices_are_counted():
    gpus = [{"Name": "L4", "Manufacturer": "NVIDIA", "Count": 4, "MemoryInfo": {"SizeInMiB": 22888}}]
    devices = [{"Name": "Trainium", "Count": 16, "CoreInfo": {"Count": 2, "Version": 2}}]
    shape = parse_shape({**LEAST, "GpuInfo": {"Gpus": gpus}, "NeuronInfo": {"NeuronDevices": devices}})
    assert shape.gpu == Gpu(name="L4", manufacturer="NVIDIA", count=4, memory_mib=22888)
    assert (shape.neuron_devices, shape.neuron_cores) == (16, 32)


def test_only_nvme_disks_count_as_local():
    disks = {"TotalSizeInGB": 1900, "Disks": [{"Count": 2, "SizeInGB": 950, "Type": "ssd"}]}
    nvme = parse_shape({**LEAST, "InstanceStorageInfo": {**disks, "NvmeSupport": "required"}})
    older = parse_shape({**LEAST, "InstanceStorageInfo": {**disks, "NvmeSupport": "unsupported"}})
    assert (nvme.local_disk_gb, nvme.local_disks) == (1900, 2)
    assert (older.local_disk_gb, older.local_disks) == (0, 0)


def test_bare_metal_has_no_hypervisor():
    shape = parse_shape({**LEAST, "InstanceType": "x9.metal", "BareMetal": True})
    assert shape.bare_metal
    assert shape.family == "x9"
    assert not parse_shape({**LEAST, "Hypervisor": "xen"}).bare_metal


def test_architectures_are_named_as_kubernetes_names_them():
    def arch(*names):
        return parse_shape({**LEAST, "ProcessorInfo": {"SupportedArchitectures": list(names)}}).arch

    assert arch("i386", "x86_64") == "amd64"
    assert arch("arm64") == "arm64"
    assert arch("arm64_mac") == "arm64_mac"


def test_a_type_tells_how_it_can_be_bought_and_what_may_be_attached():
    ebs = {"MaximumEbsAttachments": 32, "AttachmentLimitType": "dedicated"}
    shape = parse_shape({**LEAST, "EbsInfo": ebs, "SupportedUsageClasses": ["capacity-block", "on-demand"]})
    assert (shape.ebs_attachments, shape.ebs_shared_limit) == (32, False)
    assert (shape.on_demand, shape.spot) == (True, False)
