"""What users write under ``gce`` in YAML."""

from datetime import timedelta

import pytest
from nodewright_gce.config.gce import GceConfig
from pydantic import ValidationError


def read(**settings):
    return GceConfig.model_validate(settings)


def test_settings_by_flags_of_cluster_autoscaler_are_read() -> None:
    config = read(
        regional=True,
        concurrentRefreshes=4,
        instancesMinRefreshWait="7s",
        bulkListing=True,
        cloudConfig="/etc/gce.conf",
    )

    assert config.regional
    assert (config.concurrent_refreshes, config.instances_min_refresh_wait) == (4, timedelta(seconds=7))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"zones": ["europe-west1"]}, "'europe-west1' is no zone: write one such as europe-west1-b"),
        ({"regions": ["europe-west1-b"]}, "'europe-west1-b' is no region: write one such as europe-west1"),
        ({"discover": [{}]}, "the rule would find all groups: write namePrefix, template or labels"),
        ({"discover": [{"namePrefix": "a", "min": 3, "max": 2}]}, "min 3 is above max 2"),
        ({"discover": [{"namePrefix": "a", "max": 0}]}, "greater than or equal to 1"),
        ({"discover": [{"prefix": "a"}]}, "prefix"),
        ({"groups": ["1:5:workers"]}, "is no URL of an instance group"),
        ({"endpoints": {"compute": "localhost"}}, "'localhost' is no URL"),
        ({"impersonate": "nodewright"}, "'nodewright' is no service account: write its e-mail address"),
        ({"concurrentRefreshes": 0}, "greater than or equal to 1"),
    ],
)
def test_a_mistake_is_explained(settings, message) -> None:
    with pytest.raises(ValidationError) as raised:
        read(**settings)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    "name", ["europe-west1-b", "northamerica-northeast1-a", "us-east4-c", "me-central2-a", "us-central1-ai1a"]
)
def test_zones_of_google_are_zones(name) -> None:
    assert read(zones=[name]).zones == (name,)
