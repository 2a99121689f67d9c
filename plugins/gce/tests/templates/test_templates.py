"""What new nodes look like."""

from dataclasses import replace
from datetime import timedelta
from threading import Barrier

import pytest
from nodewright.api import (
    AccessDeniedError,
    CloudUnavailableError,
    GroupNotFoundError,
    GroupOptions,
    NodeTemplate,
    PermanentError,
    Taint,
)
from nodewright_gce.machine_types.hardware import HARDWARE_ANNOTATION, Hardware, read
from nodewright_gce.pools import Pool

MIB, GIB, KIB = 1024**2, 1024**3, 1024
GKE_LABELS = "node_labels=cloud.google.com/gke-nodepool=pool-1"
SHARED = "cloud.google.com/gke-gpu-sharing-strategy=time-sharing,cloud.google.com/gke-max-shared-clients-per-gpu"
POOLS = "gce.nodewright.dev/pools"


def env(*variables: str, **entries: str) -> dict[str, str]:
    """Return metadata with a kube-env of such variables and other entries."""
    lines = [f"AUTOSCALER_ENV_VARS: {';'.join(variables)}", *(f"{key}: {value}" for key, value in entries.items())]
    return {"kube-env": "\n".join(lines)}


def kept(template: NodeTemplate) -> dict[str, int]:
    """Return what of a node's capacity is not for pods."""
    return {name: amount - template.allocatable[name] for name, amount in template.capacity.items()}


@pytest.mark.scenario(28)
def test_a_machine_without_kube_env_keeps_only_what_kubelets_evict_for(foresee) -> None:
    template = foresee(disk_gb=50)
    assert template.labels["kubernetes.io/os"] == "linux"
    assert template.labels["kubernetes.io/arch"] == "amd64"
    tenth = template.capacity["ephemeral-storage"] / 10
    assert kept(template) == {
        "cpu": 0,
        "memory": 100 * MIB,
        "pods": 0,
        "ephemeral-storage": pytest.approx(tenth, rel=1e-6),
    }
    assert template.allocatable["pods"] == 110
    assert template.pods == ()


def test_a_template_has_the_labels_that_every_node_has(foresee) -> None:
    assert foresee().labels == {
        "kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "beta.kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "n2-standard-8",
        "topology.kubernetes.io/region": "europe-west1",
        "topology.kubernetes.io/zone": "europe-west1-b",
        "topology.gke.io/zone": "europe-west1-b",
    }


def test_what_kube_env_reserves_is_what_a_node_keeps(foresee) -> None:
    template = foresee(
        machine_type="e2-medium",
        metadata=env("kube_reserved=cpu=1060m,memory=1019Mi,ephemeral-storage=41Gi", "os_distribution=cos", GKE_LABELS),
    )
    assert template.allocatable["cpu"] == 940
    assert kept(template)["memory"] == (1019 + 100) * MIB
    evicted = template.capacity["ephemeral-storage"] / 10
    assert kept(template)["ephemeral-storage"] == pytest.approx(41 * GIB + evicted, rel=1e-6)


def test_a_node_of_gke_without_reservations_keeps_what_gkes_formulas_say(foresee) -> None:
    template = foresee(metadata=env(GKE_LABELS))
    assert template.allocatable["cpu"] == 7910
    assert kept(template)["memory"] == (3606 + 100) * MIB


def test_a_node_of_gke_whose_reservations_are_told_keeps_nothing_else(foresee) -> None:
    told = foresee("told", metadata=env(GKE_LABELS, "kube_reserved=cpu=80m"))
    assert (kept(told)["cpu"], kept(told)["memory"]) == (80, 100 * MIB)
    by_metadata = foresee("ours", metadata={**env(GKE_LABELS), "nodewright-reserved": "cpu=90m"})
    assert (kept(by_metadata)["cpu"], kept(by_metadata)["memory"]) == (90, 100 * MIB)


def test_what_kubelets_keep_for_the_system_comes_on_top(foresee) -> None:
    arguments = "--kube-reserved=memory=500Mi --system-reserved=memory=64Mi"
    assert kept(foresee(metadata=env(KUBELET_ARGS=arguments)))["memory"] == (500 + 64 + 100) * MIB


def test_thresholds_of_kube_env_count(foresee) -> None:
    template = foresee(metadata=env("evictionHard=memory.available=250Mi,nodefs.available=20%"))
    assert kept(template)["memory"] == 250 * MIB
    assert kept(template)["ephemeral-storage"] == pytest.approx(template.capacity["ephemeral-storage"] / 5, rel=1e-6)


@pytest.mark.scenario(31)
@pytest.mark.parametrize(
    ("name", "mib"), [("custom-2-6656", 6656), ("n2-custom-2-6656", 6656), ("n1-custom-2-6656-ext", 6656)]
)
def test_a_custom_type_is_foreseen_without_a_call_for_it(foresee, google, name, mib) -> None:
    template = foresee(machine_type=name)
    assert template.capacity["cpu"] == 2000
    assert 0.94 * mib * MIB < template.capacity["memory"] < mib * MIB
    assert [call for call in google.asked if call.startswith("type")] == []


@pytest.mark.scenario(33)
def test_gpus_that_a_type_has_need_no_accelerators_in_the_template(foresee) -> None:
    template = foresee(machine_type="a2-highgpu-1g")
    assert (template.capacity["nvidia.com/gpu"], template.allocatable["nvidia.com/gpu"]) == (1, 1)


def test_gpus_that_are_attached_count(foresee) -> None:
    template = foresee(
        machine_type="n1-standard-8",
        guestAccelerators=[
            {"acceleratorType": "nvidia-tesla-t4", "acceleratorCount": 2},
            {"acceleratorType": "ct5lp", "acceleratorCount": 4},
        ],
    )
    assert template.capacity["nvidia.com/gpu"] == 2


def test_gpus_that_a_type_has_are_not_counted_twice_if_the_template_names_them(foresee) -> None:
    accelerators = [{"acceleratorType": "nvidia-l4", "acceleratorCount": 2}]
    assert foresee(machine_type="g2-standard-24", guestAccelerators=accelerators).capacity["nvidia.com/gpu"] == 2


@pytest.mark.parametrize(
    ("labels", "count"),
    [
        ("cloud.google.com/gke-gpu-partition-size=1g.5gb", 7),
        ("cloud.google.com/gke-gpu-partition-size=2g.10gb", 3),
        ("cloud.google.com/gke-gpu-partition-size=3g.20gb", 2),
        ("cloud.google.com/gke-gpu-partition-size=7g.40gb", 1),
        ("cloud.google.com/gke-gpu-partition-size=1g.20gb", 4),
        (f"{SHARED}=5", 5),
        (f"cloud.google.com/gke-gpu-partition-size=1g.5gb,{SHARED}=3", 21),
        ("cloud.google.com/gke-max-shared-clients-per-gpu=5", 1),
    ],
)
def test_gpus_are_counted_as_they_are_parted_and_shared(foresee, labels, count) -> None:
    template = foresee(machine_type="a2-highgpu-1g", metadata=env(f"node_labels={labels}"))
    assert template.capacity["nvidia.com/gpu"] == count


def test_gpus_of_a_driver_of_dynamic_resource_allocation_are_no_resource(foresee) -> None:
    template = foresee(
        machine_type="a2-highgpu-1g", metadata=env("node_labels=cloud.google.com/gke-gpu-dra-driver=true")
    )
    assert "nvidia.com/gpu" not in template.capacity


def test_chips_come_from_extended_resources_and_their_labels_with_them(foresee) -> None:
    template = foresee(
        metadata=env("extended_resources=google.com/tpu=4", "node_labels=cloud.google.com/gke-tpu-topology=2x2")
    )
    assert template.allocatable["google.com/tpu"] == 4
    assert template.labels["cloud.google.com/gke-tpu-topology"] == "2x2"


@pytest.mark.scenario(34)
def test_a_regional_template_is_read_where_it_is(templates, google, a_template, a_group) -> None:
    group = a_group(a_template(place="regions/europe-west1"))
    templates.refresh([group])
    assert templates.template(group) is not None
    assert google.asked[0].endswith("/projects/p/regions/europe-west1/instanceTemplates/workers-1")


@pytest.mark.scenario(35)
def test_arm_is_told_by_the_machine_type(foresee) -> None:
    template = foresee(machine_type="t2a-standard-4")
    assert template.labels["kubernetes.io/arch"] == template.labels["beta.kubernetes.io/arch"] == "arm64"
    assert template.taints == ()


def test_arm_machines_of_gke_are_tainted(foresee) -> None:
    template = foresee(machine_type="t2a-standard-4", metadata=env(GKE_LABELS))
    assert template.taints == (Taint(key="kubernetes.io/arch", value="arm64", effect="NoSchedule"),)


@pytest.mark.scenario(36)
def test_two_local_ssds_take_the_place_of_the_boot_disk(foresee) -> None:
    template = foresee(
        local_ssds=2, metadata=env("os_distribution=cos", "ephemeral_storage_local_ssd_count=2", GKE_LABELS)
    )
    capacity = 2 * 375 * GIB - 13725224 * KIB
    assert template.capacity["ephemeral-storage"] == capacity
    assert kept(template)["ephemeral-storage"] == pytest.approx(75 * GIB + capacity / 10, rel=1e-6)
    assert template.annotations["cluster-autoscaler/gce/ephemeral-storage-local-ssd"] == "true"


def test_local_ssds_that_a_type_has_may_be_storage(foresee) -> None:
    template = foresee(
        machine_type="z3-highmem-88-highlssd",
        metadata=env("ephemeral_storage_local_ssd_count=12", "os_distribution=cos"),
    )
    assert template.capacity["ephemeral-storage"] == pytest.approx(0.97 * 12 * 3000 * GIB, rel=1e-6)


def test_more_local_ssds_than_there_are_do_not_count(foresee) -> None:
    template = foresee(local_ssds=1, metadata=env("os_distribution=cos", "ephemeral_storage_local_ssd_count=2"))
    assert template.capacity["ephemeral-storage"] == 375 * GIB - 7289472 * KIB


def test_a_boot_disk_that_is_kept_from_pods_is_no_storage(foresee) -> None:
    template = foresee(metadata=env("BLOCK_EPH_STORAGE_BOOT_DISK=true"))
    assert "ephemeral-storage" not in template.capacity


def test_a_boot_disk_without_a_size_counts_as_small_as_googles_images(foresee) -> None:
    template = foresee(disk_gb=0)
    assert 0 < template.capacity["ephemeral-storage"] < 10 * GIB


@pytest.mark.parametrize(
    ("image", "same_as"),
    [
        ("projects/ubuntu-os-cloud/global/images/ubuntu-2404-noble-amd64-v20260801", "ubuntu"),
        ("projects/cos-cloud/global/images/cos-stable-121-18867-90-23", "cos"),
        ("projects/debian-cloud/global/images/family/debian-12", "other"),
    ],
)
def test_the_system_follows_from_the_image(make_templates, a_template, a_group, image, same_as) -> None:
    group = a_group(a_template(image=image))
    found = []
    for templates in (make_templates(), make_templates(kubelet={"osDistribution": same_as})):
        templates.refresh([group])
        found.append(templates.template(group).capacity)
    assert found[0] == found[1]


@pytest.mark.scenario(37)
def test_a_template_is_read_again_only_if_the_group_names_another(templates, google, a_template, a_group) -> None:
    first, second = a_template("workers-1"), a_template("workers-2", "n2-standard-16")
    templates.refresh([a_group(first)])
    templates.refresh([a_group(first)])
    assert google.asked.count(f"template {first}") == 1
    changed = a_group(second)
    templates.refresh([changed])
    assert templates.template(changed).capacity["cpu"] == 16000
    assert google.asked.count(f"template {second}") == 1


@pytest.mark.scenario(37)
def test_of_two_versions_the_one_without_a_target_size_counts(templates, google, a_template, a_group) -> None:
    canary, ordinary = a_template("canary", "n2-standard-16"), a_template("ordinary", "n2-standard-4")
    versions = [{"instanceTemplate": canary, "targetSize": {"fixed": 1}}, {"instanceTemplate": ordinary}]
    group = a_group(canary, versions=versions)
    templates.refresh([group])
    assert templates.template(group).capacity["cpu"] == 4000
    assert f"template {canary}" not in google.asked


def test_at_rest_nothing_is_asked(templates, google, a_template, a_group) -> None:
    groups = [a_group(a_template(f"t-{number}"), f"g-{number}") for number in range(20)]
    templates.refresh(groups)
    google.asked.clear()
    templates.refresh(groups)
    assert google.asked == []


def test_groups_with_one_template_read_it_once(templates, google, a_template, a_group) -> None:
    url = a_template()
    templates.refresh([a_group(url, "a"), a_group(url, "b", place="europe-west1-c")])
    assert google.asked == [f"template {url}", "type europe-west1-c/n2-standard-8"]


def test_pods_are_as_many_as_gke_labels_say(foresee) -> None:
    template = foresee(metadata=env(f"{GKE_LABELS},cloud.google.com/gke-max-pods-per-node=32"))
    assert template.allocatable["pods"] == 32


def test_more_pods_than_usual_cost_cpu_on_gke(foresee) -> None:
    template = foresee(metadata=env(f"{GKE_LABELS},cloud.google.com/gke-max-pods-per-node=256"))
    assert template.allocatable["cpu"] == 7510


def test_volumes_are_as_many_as_the_driver_attaches(foresee) -> None:
    assert foresee().csi_drivers == {"pd.csi.storage.gke.io": 127}
    assert foresee("small", "e2-medium").csi_drivers == {"pd.csi.storage.gke.io": 15}


def test_a_label_may_set_the_number_of_volumes(foresee) -> None:
    label = "node-restriction.kubernetes.io/gke-volume-attach-limit-override=40"
    assert foresee(metadata=env(f"node_labels={label}")).csi_drivers == {"pd.csi.storage.gke.io": 40}


def test_kops_labels_nodes_with_their_instance_group(foresee) -> None:
    labels = foresee(metadata={"kops-k8s-io-instance-group-name": "nodes-b"}).labels
    assert labels["kops.k8s.io/instancegroup"] == "nodes-b"
    assert labels["node-role.kubernetes.io/node"] == ""


@pytest.mark.parametrize(
    ("scheduling", "expected"),
    [
        ({"provisioningModel": "SPOT", "preemptible": True}, {"gke-spot": "true", "gke-provisioning": "spot"}),
        ({"preemptible": True}, {"gke-preemptible": "true"}),
        ({}, {}),
    ],
)
def test_spot_machines_of_gke_are_labelled(foresee, scheduling, expected) -> None:
    labels = foresee(metadata=env(GKE_LABELS), scheduling=scheduling).labels
    spot = {
        key: value for key, value in labels.items() if key.startswith("cloud.google.com/") and "nodepool" not in key
    }
    assert spot == {f"cloud.google.com/{key}": value for key, value in expected.items()}


def test_spot_machines_of_others_have_no_labels_of_gke(foresee) -> None:
    labels = foresee(scheduling={"provisioningModel": "SPOT"}).labels
    assert not [key for key in labels if key.startswith("cloud.google.com/")]


@pytest.mark.parametrize(
    ("settings", "metadata", "expected"),
    [
        ({}, {}, 0),
        ({}, env(GKE_LABELS), 1),
        ({}, env(GKE_LABELS, KUBE_PROXY_DAEMONSET="true"), 0),
        ({"kubeProxy": True}, {}, 1),
        ({"kubeProxy": False}, env(GKE_LABELS), 0),
    ],
)
def test_kube_proxy_is_a_static_pod_on_gke_or_as_set(
    make_templates, a_template, a_group, settings, metadata, expected
) -> None:
    templates, group = make_templates(kubelet=settings), a_group(a_template(metadata=metadata))
    templates.refresh([group])
    pods = templates.template(group).pods
    assert [pod.requests["cpu"] for pod in pods] == [100] * expected


@pytest.mark.parametrize(
    ("settings", "resource", "expected"),
    [
        ({"reservations": "gke"}, "memory", (3606 + 100) * MIB),
        ({"reservations": "none"}, "memory", 100 * MIB),
        ({"reservations": "none", "kubeReserved": {"memory": "1Gi"}}, "memory", (1024 + 100) * MIB),
        ({"systemReserved": {"memory": "1Gi"}}, "memory", (500 + 1024 + 100) * MIB),
        ({"kubeReserved": {"memory": "1Gi"}}, "memory", (1024 + 100) * MIB),
        ({"kubeReserved": {"memory": "1Gi"}}, "cpu", 80),
        ({"evictionHard": {"memory.available": "1Gi"}}, "memory", (500 + 1024) * MIB),
        ({}, "memory", (500 + 100) * MIB),
    ],
)
def test_settings_of_kubelets_count_more_than_kube_env(
    make_templates, a_template, a_group, settings, resource, expected
) -> None:
    templates, group = (
        make_templates(kubelet=settings),
        a_group(a_template(metadata=env("kube_reserved=cpu=80m,memory=500Mi"))),
    )
    templates.refresh([group])
    assert kept(templates.template(group))[resource] == expected


def test_settings_say_how_many_pods_fit_and_how_much_memory_is_missing(make_templates, a_template, a_group) -> None:
    templates, group = make_templates(kubelet={"maxPods": 64, "memoryOverhead": 2}), a_group(a_template())
    templates.refresh([group])
    template = templates.template(group)
    assert template.capacity["pods"] == 64
    assert template.capacity["memory"] == pytest.approx(0.98 * 32768 * MIB, abs=1024)


def test_settings_make_local_ssds_storage(make_templates, a_template, a_group) -> None:
    templates, group = make_templates(kubelet={"localSsdsAsStorage": True}), a_group(a_template(local_ssds=3))
    templates.refresh([group])
    assert templates.template(group).capacity["ephemeral-storage"] == pytest.approx(0.97 * 3 * 375 * GIB, rel=1e-6)


def test_metadata_of_our_own_counts_most(make_templates, a_template, a_group) -> None:
    metadata = {
        **env("kube_reserved=memory=500Mi", "node_labels=a=b,c=d", "node_taints=t=1:NoSchedule"),
        "nodewright-labels": "a=ours",
        "nodewright-taints": "t=2:NoSchedule,u=:NoExecute",
        "nodewright-capacity": "example.com/card=2,ephemeral-storage=80Gi",
        "nodewright-reserved": "memory=1Gi",
        "nodewright-max-pods": "30",
    }
    templates = make_templates(
        kubelet={"kubeReserved": {"cpu": "1"}, "systemReserved": {"memory": "3Gi"}, "maxPods": 50}
    )
    group = a_group(a_template(metadata=metadata))
    templates.refresh([group])
    template = templates.template(group)
    assert (template.labels["a"], template.labels["c"]) == ("ours", "d")
    assert [str(taint) for taint in template.taints] == ["t=2:NoSchedule", "u:NoExecute"]
    assert template.allocatable["example.com/card"] == 2
    assert template.capacity["ephemeral-storage"] == 80 * GIB
    assert template.allocatable["ephemeral-storage"] == pytest.approx(72 * GIB, rel=1e-6)
    assert kept(template)["memory"] == (1024 + 100) * MIB
    assert kept(template)["cpu"] == 0
    assert template.capacity["pods"] == 30


def test_metadata_of_the_group_counts_more_than_that_of_its_template(templates, a_template, a_group) -> None:
    config = {"properties": {"metadata": {"nodewright-labels": "a=group"}, "labels": {"x": "y"}}}
    group = a_group(a_template(metadata={"nodewright-labels": "a=template"}), allInstancesConfig=config)
    templates.refresh([group])
    assert templates.template(group).labels["a"] == "group"
    assert "x" not in templates.template(group).labels


def test_metadata_sets_limits_and_options(templates, a_template, a_group) -> None:
    group = a_group(
        a_template(
            metadata={
                **env("autoscaling_options=scaledownunneededtime=5m,scaledownutilizationthreshold=0.4"),
                "nodewright-options": "scaledownunneededtime=3m",
                "nodewright-min-size": "1",
                "nodewright-max-size": "9",
            }
        )
    )
    templates.refresh([group])
    assert templates.limits(group) == (1, 9)
    options = templates.options(group, GroupOptions(max_node_provision_time=timedelta(minutes=7)))
    assert options == GroupOptions(
        max_node_provision_time=timedelta(minutes=7),
        scale_down_unneeded_time=timedelta(minutes=3),
        scale_down_utilization_threshold=0.4,
    )


def test_limits_and_options_of_a_group_hold_even_if_its_nodes_can_not_be_foreseen(
    templates, a_template, a_group
) -> None:
    metadata = {"nodewright-max-size": "9", "nodewright-options": "scaledownunneededtime=3m"}
    group = a_group(a_template(machine_type="x9-standard-4", metadata=metadata), machines="b")
    templates.refresh([group])
    assert templates.template(group) is None
    assert templates.limits(group) == (None, 9)
    assert templates.options(group, GroupOptions()).scale_down_unneeded_time == timedelta(minutes=3)


def test_mistakes_are_told_once_and_name_the_group(templates, a_template, a_group, caplog) -> None:
    group = a_group(a_template(metadata={**env("nonsense"), "nodewright-taints": "a=b"}))
    templates.refresh([group])
    templates.refresh([group])
    assert [record.getMessage().partition(" is ignored")[0] for record in caplog.records] == [
        "group workers: kube-env, AUTOSCALER_ENV_VARS: 'nonsense'",
        "group workers: metadata nodewright-taints: 'a=b'",
    ]


def test_hidden_cores_and_threads_are_no_vcpus(foresee) -> None:
    one_thread = foresee("one-thread", advancedMachineFeatures={"threadsPerCore": 1})
    assert one_thread.capacity["cpu"] == 4000
    two_cores = foresee("two-cores", advancedMachineFeatures={"visibleCoreCount": 2})
    assert two_cores.capacity["cpu"] == 4000
    whole = foresee("whole", "t2d-standard-8", advancedMachineFeatures={"threadsPerCore": 1})
    assert whole.capacity["cpu"] == 8000


@pytest.mark.parametrize(
    "config", [{"enableConfidentialCompute": True}, {"confidentialInstanceType": "TDX"}], ids=["older", "newer"]
)
def test_confidential_machines_see_less_memory(foresee, config) -> None:
    plain = foresee("plain").capacity["memory"]
    confidential = foresee("confidential", confidentialInstanceConfig=config).capacity["memory"]
    assert plain - confidential == pytest.approx(1024 * MIB, abs=1024)


@pytest.mark.parametrize(
    ("metadata", "image"), [(env("os=windows"), ""), ({}, "projects/windows-cloud/global/images/windows-server-2022")]
)
def test_windows_is_not_foreseen(templates, a_template, a_group, metadata, image) -> None:
    url = a_template(metadata=metadata, image=image)
    empty, grown = a_group(url, "empty"), a_group(url, "grown", machines="b")
    templates.refresh([empty, grown])
    with pytest.raises(PermanentError, match="Linux only"):
        templates.template(empty)
    assert templates.template(grown) is None


def test_a_zonal_group_has_a_pool_for_its_zone(templates, a_template, a_group) -> None:
    group = a_group(a_template())
    templates.refresh([group])
    assert templates.pools(group) == (Pool(zone="europe-west1-b", machine_type="n2-standard-8"),)
    assert not templates.spot(group)
    assert templates.machine_types(group) == ("n2-standard-8",)


def test_spot_machines_come_from_pools_of_their_own(templates, a_template, a_group) -> None:
    group = a_group(a_template(scheduling={"provisioningModel": "SPOT"}))
    templates.refresh([group])
    assert [str(pool) for pool in templates.pools(group)] == ["europe-west1-b/n2-standard-8/spot"]
    assert templates.spot(group)


def test_machines_of_a_reservation_come_from_it_only(templates, a_template, a_group) -> None:
    affinity = {
        "consumeReservationType": "SPECIFIC_RESERVATION",
        "key": "compute.googleapis.com/reservation-name",
        "values": ["projects/other/reservations/gpus", "local"],
    }
    group = a_group(a_template(reservationAffinity=affinity))
    templates.refresh([group])
    assert [str(pool) for pool in templates.pools(group)] == [
        "europe-west1-b/reservation:gpus",
        "europe-west1-b/reservation:local",
    ]


@pytest.mark.parametrize(
    ("machine_type", "properties", "queued"),
    [
        ("n2-standard-8", {}, False),
        ("a2-highgpu-1g", {}, True),
        ("n1-standard-8", {"guestAccelerators": [{"acceleratorType": "nvidia-tesla-t4", "acceleratorCount": 1}]}, True),
        ("n2-standard-8", {"scheduling": {"provisioningModel": "FLEX_START"}}, True),
        ("n2-standard-8", {"scheduling": {"provisioningModel": "SPOT"}}, False),
    ],
)
def test_machines_with_accelerators_or_of_limited_life_may_be_waited_for(
    templates, a_template, a_group, machine_type, properties, queued
) -> None:
    group = a_group(a_template(machine_type=machine_type, **properties))
    templates.refresh([group])
    assert templates.queued(group) is queued


def test_a_group_that_may_use_any_reservation_has_ordinary_pools(templates, a_template, a_group) -> None:
    group = a_group(a_template(reservationAffinity={"consumeReservationType": "ANY_RESERVATION", "values": ["gpus"]}))
    templates.refresh([group])
    assert [str(pool) for pool in templates.pools(group)] == ["europe-west1-b/n2-standard-8"]


def test_the_next_machine_of_a_regional_group_is_expected_where_there_are_fewest(
    templates, a_template, a_group, regional
) -> None:
    group = a_group(a_template(), place="europe-west1", machines="bbccd", distributionPolicy=regional("dbc"))
    templates.refresh([group])
    template = templates.template(group)
    assert template.zones == ("europe-west1-b", "europe-west1-c", "europe-west1-d")
    assert template.labels["topology.kubernetes.io/zone"] == template.labels["topology.gke.io/zone"] == "europe-west1-d"
    assert template.labels["topology.kubernetes.io/region"] == "europe-west1"
    assert [pool.zone for pool in templates.pools(group)] == list(template.zones)


def test_a_group_that_keeps_to_a_single_zone_stays_in_it(templates, a_template, a_group, regional) -> None:
    policy = {**regional("bcd"), "targetShape": "ANY_SINGLE_ZONE"}
    group = a_group(a_template(), place="europe-west1", machines="cc", distributionPolicy=policy)
    templates.refresh([group])
    assert templates.template(group).labels["topology.kubernetes.io/zone"] == "europe-west1-c"


def test_settings_may_name_the_first_zone(make_templates, a_template, a_group, regional) -> None:
    templates = make_templates(zones="first")
    group = a_group(a_template(), place="europe-west1", machines="bbc", distributionPolicy=regional("cb"))
    templates.refresh([group])
    template = templates.template(group)
    assert (template.labels["topology.kubernetes.io/zone"], template.zones) == ("europe-west1-b", ())


def test_a_group_with_several_zones_is_told_once(templates, a_template, a_group, regional, caplog) -> None:
    group = a_group(a_template(), place="europe-west1", distributionPolicy=regional("bc"))
    templates.refresh([group])
    templates.refresh([group])
    assert caplog.text.count("has several zones (europe-west1-b, europe-west1-c)") == 1


def test_a_flexible_group_is_foreseen_by_the_least_of_its_types(templates, a_template, a_group, flexible) -> None:
    policy = flexible((2, "n2d-standard-4"), (1, "n2-highmem-4 c2-standard-8"))
    group = a_group(a_template(), instanceFlexibilityPolicy=policy)
    templates.refresh([group])
    template = templates.template(group)
    assert template.capacity["cpu"] == 4000
    assert 14 * GIB < template.capacity["memory"] < 16 * GIB
    assert "node.kubernetes.io/instance-type" not in template.labels
    assert template.labels["kubernetes.io/arch"] == "amd64"
    assert templates.machine_types(group) == ("n2-highmem-4", "c2-standard-8", "n2d-standard-4")
    assert [pool.machine_type for pool in templates.pools(group)] == list(templates.machine_types(group))


@pytest.mark.parametrize(("choice", "expected"), [("first", "n2-highmem-4"), ("largest", "c2-standard-8")])
def test_settings_may_choose_one_of_the_types(make_templates, a_template, a_group, flexible, choice, expected) -> None:
    templates = make_templates(flexibleTypes=choice)
    policy = flexible((2, "n2d-standard-4"), (1, "n2-highmem-4 c2-standard-8"))
    group = a_group(a_template(), instanceFlexibilityPolicy=policy)
    templates.refresh([group])
    assert templates.template(group).labels["node.kubernetes.io/instance-type"] == expected


def test_unknown_types_of_a_flexible_group_are_left_out_and_told(
    templates, a_template, a_group, flexible, caplog
) -> None:
    group = a_group(a_template(), instanceFlexibilityPolicy=flexible((1, "x9-standard-4 n2-standard-4")))
    templates.refresh([group])
    assert templates.machine_types(group) == ("n2-standard-4",)
    assert "group workers launches unknown machine types: x9-standard-4. They are left out" in caplog.text


def test_a_group_of_an_unknown_type_is_told_by_name(templates, a_template, a_group) -> None:
    group = a_group(a_template(machine_type="x9-standard-4"))
    templates.refresh([group])
    with pytest.raises(PermanentError, match="group workers launches unknown machine types: x9-standard-4"):
        templates.template(group)
    assert templates.pools(group) == ()


def test_what_google_says_of_a_type_counts(foresee, google) -> None:
    google.types["x9-standard-4"] = {
        "name": "x9-standard-4",
        "guestCpus": 4,
        "memoryMb": 16384,
        "architecture": "ARM64",
        "accelerators": [{"guestAcceleratorType": "nvidia-x9", "guestAcceleratorCount": 2}],
    }
    template = foresee(machine_type="x9-standard-4")
    assert template.capacity["cpu"] == 4000
    assert template.capacity["nvidia.com/gpu"] == 2
    assert template.labels["kubernetes.io/arch"] == "arm64"


def test_a_static_table_asks_for_no_types(make_templates, google, a_template, a_group) -> None:
    templates = make_templates(staticMachineTypes=True)
    templates.refresh([a_group(a_template())])
    assert [call for call in google.asked if call.startswith("type")] == []


def test_a_template_that_can_not_be_read_hides_an_empty_group_and_not_a_grown_one(
    templates, google, a_template, a_group, caplog
) -> None:
    google.failure = AccessDeniedError("compute.instanceTemplates.get is missing")
    empty, grown = a_group(a_template("one"), "empty"), a_group(a_template("two"), "grown", machines="b")
    others = [a_group(a_template(f"other-{number}"), f"other-{number}") for number in range(20)]
    templates.refresh([empty, grown, *others])
    with pytest.raises(AccessDeniedError):
        templates.template(empty)
    assert templates.template(grown) is None
    assert "what group grown launches is unknown, so its nodes are the only model" in caplog.text
    # As many as are asked for at the same time.
    assert len(google.asked) == 8


def test_templates_are_read_several_at_a_time(templates, google, a_template, a_group, monkeypatch) -> None:
    together = Barrier(2, timeout=10)
    read = google.template

    def read_together(url):
        together.wait()
        return read(url)

    monkeypatch.setattr(google, "template", read_together)
    groups = [a_group(a_template(name), name) for name in ("one", "two")]
    templates.refresh(groups)
    assert all(templates.template(group) for group in groups)


def test_a_template_that_is_missing_is_asked_for_again_after_a_minute(
    templates, google, clock, a_template, a_group
) -> None:
    url = a_template()
    body = google.templates.pop(url)
    group = a_group(url)
    templates.refresh([group])
    templates.refresh([group])
    assert google.asked.count(f"template {url}") == 1
    google.templates[url] = body
    clock.advance(60)
    templates.refresh([group])
    assert templates.template(group) is not None


def test_a_group_keeps_its_template_while_google_does_not_answer(templates, google, a_template, a_group) -> None:
    group = a_group(a_template("one"))
    templates.refresh([group])
    before = templates.template(group)
    google.failure = CloudUnavailableError("no answer")
    changed = a_group(a_template("two", "n2-standard-16"))
    templates.refresh([changed])
    assert templates.template(changed) == before
    google.failure = None
    templates.refresh([changed])
    assert templates.template(changed).capacity["cpu"] == 16000


def test_an_empty_group_loses_its_template_if_the_next_one_does_not_exist(
    templates, google, a_template, a_group
) -> None:
    templates.refresh([a_group(a_template("one"))])
    missing = a_template("two")
    del google.templates[missing]
    changed = a_group(missing)
    templates.refresh([changed])
    with pytest.raises(PermanentError, match="notFound"):
        templates.template(changed)


def test_one_template_that_is_missing_does_not_hide_the_others(templates, google, a_template, a_group) -> None:
    missing, there = a_template("missing"), a_template("there")
    del google.templates[missing]
    groups = [a_group(missing, "a"), a_group(there, "b")]
    templates.refresh(groups)
    assert templates.template(groups[1]) is not None


def test_a_group_that_was_missing_is_not_found(templates, a_template, a_group) -> None:
    with pytest.raises(GroupNotFoundError, match="was missing when Google was last asked"):
        templates.template(a_group(a_template()))


def test_annotations_tell_what_is_paid_for(foresee) -> None:
    annotations = foresee(
        machine_type="n1-standard-8",
        local_ssds=2,
        scheduling={"provisioningModel": "SPOT"},
        guestAccelerators=[{"acceleratorType": "nvidia-tesla-t4", "acceleratorCount": 1}],
    ).annotations
    assert read(annotations[HARDWARE_ANNOTATION]) == (
        Hardware(
            region="europe-west1",
            machine_type="n1-standard-8",
            spot=True,
            vcpus=8,
            memory_mib=30720,
            gpus={"nvidia-tesla-t4": 1},
            local_ssd_gib=750,
            boot_disk="pd-balanced",
            boot_disk_gib=100,
        ),
    )
    assert annotations[POOLS] == "europe-west1-b/n1-standard-8/spot"
    assert annotations["cluster-autoscaler/gce/local-ssd-count"] == "2"
    assert annotations["cluster-autoscaler/gce/boot-disk-type"] == "pd-balanced"
    assert annotations["cluster-autoscaler/gce/boot-disk-size"] == "100"


def test_a_template_of_a_real_node_gets_what_only_the_group_knows(templates, a_template, a_group) -> None:
    group = a_group(a_template(metadata={"nodewright-capacity": "example.com/card=2,memory=1Gi"}))
    templates.refresh([group])
    real = NodeTemplate(
        labels={"node.kubernetes.io/instance-type": "n2-standard-8", "own": "label"},
        annotations={"own": "annotation"},
        capacity={"cpu": 8000, "memory": 31 * GIB},
        allocatable={"cpu": 7900, "memory": 28 * GIB},
    )
    completed = templates.complete(group, real)
    foreseen = templates.template(group)
    assert completed == replace(
        real,
        annotations={"own": "annotation", **foreseen.annotations},
        capacity={"cpu": 8000, "memory": 31 * GIB, "example.com/card": 2},
        allocatable={"cpu": 7900, "memory": 28 * GIB, "example.com/card": 2},
    )


def test_a_real_node_of_a_larger_type_is_lowered_to_the_least_of_a_flexible_group(
    templates, a_template, a_group, flexible
) -> None:
    group = a_group(a_template(), instanceFlexibilityPolicy=flexible((1, "n2-standard-8 n2-highmem-4")))
    templates.refresh([group])
    real = NodeTemplate(
        labels={"node.kubernetes.io/instance-type": "n2-standard-8"},
        capacity={"cpu": 8000, "memory": 31 * GIB},
        allocatable={"cpu": 8000, "memory": 30 * GIB},
    )
    completed = templates.complete(group, real)
    assert completed.capacity["cpu"] == completed.allocatable["cpu"] == 4000
    assert completed.allocatable["memory"] == 30 * GIB


def test_a_template_of_a_group_that_is_gone_stays_as_it_is(templates, a_template, a_group) -> None:
    real = NodeTemplate(capacity={"cpu": 1000}, allocatable={"cpu": 1000})
    assert templates.complete(a_group(a_template()), real) is real
