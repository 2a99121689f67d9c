"""Rules and groups as users write them."""

import pytest
from nodewright.api import ConfigurationError, GroupSpec
from nodewright_gce.group_specs import named_group, parse_group, parse_rule, read_address

PATH = "projects/p/zones/europe-west1-b/instanceGroups/g"


@pytest.mark.scenario(2)
@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("mig:foo=1", "'foo' is no key of it"),
        ("asg:tag=a", ""),
        ("mig", ""),
        ("mig:namePrefix=a,min=0,max=3:b", ""),
        ("mig:namePrefix=a,min=0,max=0", "max must be at least 1"),
        ("mig:namePrefix=,min=0,max=3", "namePrefix must not be empty"),
        ("mig:min=0,max=3", "namePrefix must not be empty"),
        ("mig:namePrefix=a,min=4,max=3", "min 4 is above max 3"),
        ("mig:namePrefix=a,min=x,max=3", "min and max are numbers"),
        ("mig:namePrefix=a", "max must be at least 1"),
        ("mig:namePrefix=a(,max=3", "no regular expression"),
    ],
)
def test_a_rule_that_is_none_is_explained_with_the_keys_there_are(rule, why) -> None:
    with pytest.raises(ConfigurationError) as raised:
        parse_rule(rule)
    assert f"{rule!r}, of discovery or --node-group-auto-discovery, is no rule for Google Cloud" in str(raised.value)
    assert why in str(raised.value)
    assert "write mig:namePrefix=PREFIX,min=MIN,max=MAX" in str(raised.value)


@pytest.mark.parametrize(
    ("prefix", "name", "found"),
    [
        ("k8s", "k8s-a", True),
        ("k8s", "k8s", False),
        ("k8s", "my-k8s-a", False),
        ("a|b", "b-1", True),
        ("a|b", "c-b-1", False),
        ("a|b", "a", False),
        ("k.s-", "k9s-a", True),
    ],
)
def test_a_prefix_is_a_regular_expression_for_the_begin_of_a_name(prefix, name, found) -> None:
    assert parse_rule(f"mig:namePrefix={prefix},min=0,max=3").matches(name, "") is found


@pytest.mark.scenario(3)
@pytest.mark.parametrize(
    "host", ["https://content.googleapis.com/compute/v1/", "https://www.googleapis.com/compute/v1/", ""]
)
def test_the_url_of_a_group_is_accepted_with_any_host_and_becomes_that_of_cluster_autoscaler(host) -> None:
    group = named_group(GroupSpec(name=host + PATH, min_size=1, max_size=5))

    assert group.address.id == f"https://www.googleapis.com/compute/v1/{PATH}"
    assert (group.min_size, group.max_size) == (1, 5)


@pytest.mark.scenario(4)
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("workers", "'workers' is no URL of an instance group: write https://www.googleapis.com/compute/v1/projects/"),
        (
            "https://www.googleapis.com/compute/v1/projects/p/zones/z/instanceGroupManagers/g",
            "names the manager of the group: write https://www.googleapis.com/compute/v1/projects/p/zones/z/instanceGroups/g",
        ),
    ],
)
def test_a_bare_name_and_the_url_of_a_manager_are_explained(name, message) -> None:
    with pytest.raises(ConfigurationError, match=r"^nodeGroups: ") as raised:
        named_group(GroupSpec(name=name, min_size=1, max_size=5))
    assert message in str(raised.value)


def test_a_group_of_a_region_and_of_a_project_of_a_domain_is_understood() -> None:
    place = read_address("https://x/compute/v1/projects/example.com:p/regions/europe-west1/instanceGroups/g").place

    assert (place.project, place.name, place.regional) == ("example.com:p", "europe-west1", True)


@pytest.mark.parametrize("text", [f"1:{PATH}", f"-1:5:{PATH}", f"x:5:{PATH}", "1:5:", f"6:5:{PATH}", "1:5:workers"])
def test_a_group_in_yaml_that_is_none_is_refused(text) -> None:
    with pytest.raises(ValueError, match=r"no group: write min:max:URL|is above the maximum|is no URL"):
        parse_group(text)
