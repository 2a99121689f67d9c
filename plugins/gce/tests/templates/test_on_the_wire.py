"""Templates of groups of the double, read over HTTP."""

import pytest
from nodewright.api import PermanentError
from nodewright_gce.calls.google_compute import GoogleCompute
from nodewright_gce.config.gce import GceConfig
from nodewright_gce.config.templates import TemplateSettings
from nodewright_gce.migs.managed_group import ManagedGroup
from nodewright_gce.resources.address import Place
from nodewright_gce.templates.templates import Templates

GIB = 1024**3


@pytest.fixture
def compute(double):
    compute = GoogleCompute(GceConfig.model_validate(double.config()), double.clock, "tests")
    yield compute
    compute.close()


@pytest.fixture
def templates(compute, double):
    return Templates(compute, TemplateSettings(), double.clock)


@pytest.fixture
def read(templates, compute):
    """Refreshes the templates for groups of the double, and returns these as the plugin sees them."""

    def groups(*made) -> list[ManagedGroup]:
        found = [
            ManagedGroup(
                address=each.address,
                mig=compute.mig(each.address),
                members=tuple(compute.managed_instances(each.address)),
            )
            for each in made
        ]
        templates.refresh(found)
        return found

    return groups


def test_a_group_is_foreseen_from_its_template_and_its_machine_type(double, templates, read) -> None:
    variables = {
        "AUTOSCALER_ENV_VARS": "kube_reserved=cpu=90m,memory=3606Mi;node_labels=a=b;node_taints=t=u:NoExecute;os=linux",
        "ENABLE_NODE_PROBLEM_DETECTOR": "standalone",
        "KUBE_PROXY_TOKEN": "{odd: 'quotes'}",
    }
    (group,) = read(double.make_mig("workers", kube_env=variables, metadata={"nodewright-max-size": "4"}))
    template = templates.template(group)
    assert template.labels["a"] == "b"
    assert [str(taint) for taint in template.taints] == ["t=u:NoExecute"]
    assert template.allocatable["cpu"] == 7910
    assert 27 * GIB < template.allocatable["memory"] < 28 * GIB
    assert templates.limits(group) == (None, 4)


def test_templates_and_types_are_asked_for_once(double, templates, read) -> None:
    made = [double.make_mig(f"workers-{number}") for number in range(3)]
    read(*made)
    asked = double.calls["instance_templates", "get"], double.calls["machine_types", "get"]
    assert asked == (3, 1)
    read(*made)
    assert (double.calls["instance_templates", "get"], double.calls["machine_types", "get"]) == asked


@pytest.mark.scenario(34)
def test_a_regional_template_is_read_in_its_region(double, templates, read) -> None:
    template = double.make_template("regional", region="europe-west1", machine_type="n2-standard-4")
    (group,) = read(double.make_mig("workers", template=template))
    assert templates.template(group).capacity["cpu"] == 4000
    assert double.calls["region_instance_templates", "get"] == 1
    assert double.calls["instance_templates", "get"] == 0


@pytest.mark.scenario(33)
def test_gpus_of_a_type_are_read_from_google(double, templates, read) -> None:
    (group,) = read(double.make_mig("workers", machine_type="a2-highgpu-4g"))
    assert templates.template(group).allocatable["nvidia.com/gpu"] == 4


@pytest.mark.scenario(31)
def test_a_custom_type_is_not_asked_for(double, templates, read) -> None:
    (group,) = read(double.make_mig("workers", machine_type="custom-2-6656"))
    assert templates.template(group).capacity["cpu"] == 2000
    assert double.calls["machine_types", "get"] == 0


@pytest.mark.scenario(37)
def test_a_group_with_another_template_is_read_anew(double, templates, read) -> None:
    made = double.make_mig("workers")
    read(made)
    other = double.make_template("workers-2", machine_type="n2-standard-16")
    double.do(
        "instance_group_managers", "patch", "workers", instanceTemplate=other, versions=[{"instanceTemplate": other}]
    )
    (group,) = read(made)
    assert templates.template(group).capacity["cpu"] == 16000
    assert double.calls["instance_templates", "get"] == 2


def test_without_the_right_to_read_types_the_table_serves(double, templates, read) -> None:
    double.faults.deny("machine_types:get")
    (group,) = read(double.make_mig("workers"))
    assert templates.template(group).capacity["cpu"] == 8000


def test_a_regional_group_grows_in_the_zone_with_the_fewest_machines(double, templates, read) -> None:
    (group,) = read(double.make_mig("workers", region="europe-west1", size=2))
    template = templates.template(group)
    used = {member.instance.split("/zones/")[1].split("/")[0] for member in group.members}
    assert len(template.zones) == 3
    assert template.labels["topology.kubernetes.io/zone"] in set(template.zones) - used


def test_a_flexible_group_launches_all_its_types(double, templates, read) -> None:
    (group,) = read(
        double.make_mig("workers", region="europe-west1", types=["n2-standard-8", "n2d-standard-4", "c2-standard-8"])
    )
    assert templates.machine_types(group) == ("n2-standard-8", "n2d-standard-4", "c2-standard-8")
    assert templates.template(group).capacity["cpu"] == 4000


def test_a_template_that_was_deleted_is_told(double, compute, templates) -> None:
    place = Place(project=double.project, name="europe-west1-b")
    made = double.make_mig("workers")
    (mig,) = compute.migs(place)
    lost = mig.template.replace("workers-1", "lost")
    group = ManagedGroup(
        address=made.address, mig=type(mig)(name="workers", instance_template=lost, base_instance_name="workers")
    )
    templates.refresh([group])
    with pytest.raises(PermanentError, match="lost"):
        templates.template(group)
