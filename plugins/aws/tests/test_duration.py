"""Durations in settings."""

from datetime import timedelta

import pytest
from nodewright_aws.config import PriceSettings
from pydantic import ValidationError


def test_a_duration_is_written_as_everywhere_in_nodewright() -> None:
    settings = PriceSettings.model_validate({"onDemandInterval": "1h30m"})
    assert settings.on_demand_interval == timedelta(minutes=90)


@pytest.mark.parametrize("value", ["", "5", 5, "5 minutes", "m", "PT5M", None, True])
def test_anything_else_is_refused(value) -> None:
    with pytest.raises(ValidationError, match="write a duration such as 10m or 1h30m"):
        PriceSettings.model_validate({"onDemandInterval": value})


def test_the_schema_shows_defaults_as_people_write_them() -> None:
    properties = PriceSettings.model_json_schema()["properties"]
    assert properties["onDemandInterval"]["default"] == "12h"
    assert properties["spotInterval"]["default"] == "5m"
