"""The table of instance types that comes along, and the program that writes it."""

import subprocess
import sys
import time
from importlib.resources import files

import pytest
from moto.server import ThreadedMotoServer
from nodewright_aws.instance_types.info import Gpu, InstanceTypeInfo
from nodewright_aws.instance_types.table import FILE, bundled, main, read, write

SOME = ("m5.large", "m5.metal", "g4dn.xlarge", "trn1.32xlarge", "i3.large", "t4g.small", "p5.48xlarge", "c7i.large")


@pytest.fixture(scope="module")
def endpoint():
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(autouse=True)
def credentials(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "nobody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "nothing")


def test_the_program_writes_the_table_that_comes_along(endpoint, tmp_path) -> None:
    output = tmp_path / "table.csv"
    main(["--endpoint", endpoint, "--source", "a copy", "--output", str(output)])
    made = read(output.read_text())
    assert "types of us-east-1, DescribeInstanceTypes of a copy, 20" in made.origin
    assert len(made.rows) > 1000
    assert {info.arch for info in map(made.get, made.rows)} == {"amd64", "arm64"}, "no Macs"
    for name in SOME:
        assert made.get(name) == bundled().get(name)


def test_the_table_says_when_and_from_what_it_was_made() -> None:
    assert bundled().origin.startswith(f"{len(bundled().rows)} types of us-east-1, DescribeInstanceTypes of moto 5.")


def test_the_table_has_what_ec2_tells_of_a_type() -> None:
    assert bundled().get("g4dn.12xlarge") == InstanceTypeInfo(
        name="g4dn.12xlarge",
        vcpus=48,
        memory_mib=196608,
        gpu=Gpu(name="T4", manufacturer="NVIDIA", count=4, memory_mib=16384),
        interfaces=8,
        addresses_per_interface=30,
        local_disk_gb=900,
        local_disks=1,
        ebs_attachments=22,
        efa_interfaces=1,
    )
    trainium = bundled().get("trn1.32xlarge")
    assert (trainium.neuron_devices, trainium.neuron_cores, trainium.efa_interfaces) == (16, 32, 8)
    # Of the card that pods use: eight such cards are in the machine.
    assert trainium.interfaces == 5
    assert bundled().get("m5.metal").bare_metal
    assert bundled().get("t4g.small").arch == "arm64"
    assert bundled().get("i3.large").hypervisor == "xen"
    assert bundled().get("no.such") is None


def test_a_type_is_read_as_it_was_written() -> None:
    infos = [bundled().get(name) for name in SOME]
    again = read(write(infos, "made up"))
    assert again.origin == "made up"
    assert [again.get(name) for name in SOME] == infos


def test_the_table_is_small_and_read_in_no_time() -> None:
    def seconds():
        bundled.cache_clear()
        start = time.perf_counter()
        bundled().get("m5.large")
        return time.perf_counter() - start

    assert min(seconds() for _ in range(5)) < 0.02
    assert (files("nodewright_aws.instance_types") / FILE).stat().st_size < 200_000


def test_the_sdk_is_not_imported_for_the_table() -> None:
    code = "import sys, nodewright_aws.instance_types.table as t; t.bundled(); sys.exit('boto3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
