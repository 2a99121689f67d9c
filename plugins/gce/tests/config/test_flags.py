"""Flags of Cluster Autoscaler, from the command line to the groups that they mean."""

import pytest
from nodewright.cli.main import main
from nodewright.config.document import load
from nodewright.config.providers import live_groups
from nodewright.plugins import Registry


@pytest.fixture
def groups_of(double, tmp_path, capsys):
    """Return the groups for flags and the text of a ``gce.conf``: their ids, with limits."""

    def groups(flags, cloud_config):
        path = tmp_path / "gce.conf"
        path.write_text(cloud_config)
        assert main(["config", "from-flags", "--cloud-provider=gce", f"--cloud-config={path}", *flags]) == 0
        endpoints = f"endpoints: {{compute: '{double.url}', billing: '{double.url}'}}"
        text = capsys.readouterr().out.replace("- gce:\n", f"- gce:\n      {endpoints}\n")
        found = live_groups(load(text, classes=Registry()).settings, Registry(), double.clock)
        return {each.id.partition("/zones/")[2] for each in found}

    return groups


def test_a_set_up_by_flags_and_gce_conf_goes_on_as_it_is(double, groups_of) -> None:
    double.make_mig("named")
    double.make_mig("k8s")
    double.make_mig("k8s-a", zone="europe-west1-c")
    flags = [
        "--nodes=1:5:https://content.googleapis.com/compute/v1/projects/double/zones/europe-west1-b/instanceGroups/named",
        "--node-group-auto-discovery=mig:namePrefix=k8s,min=0,max=10",
        "--regional",
        "--gce-concurrent-refreshes=4",
        "--gce-mig-instances-min-refresh-wait-time=7s",
        "--bulk-mig-instances-listing-enabled",
    ]

    found = groups_of(flags, "[global]\nproject-id = double\nlocal-zone = europe-west1\nmultizone = true\n")
    assert found == {"europe-west1-b/instanceGroups/named", "europe-west1-c/instanceGroups/k8s-a"}


def test_without_a_zone_that_of_the_machine_is_searched(double, groups_of) -> None:
    double.make_mig("k8s-a")
    double.make_mig("k8s-b", zone="europe-west1-c")

    found = groups_of(["--node-group-auto-discovery=mig:namePrefix=k8s,min=0,max=10"], "[global]\ntoken-url = nil\n")
    assert found == {"europe-west1-b/instanceGroups/k8s-a"}
