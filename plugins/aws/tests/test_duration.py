"""Durations in settings."""

from datetime import timedelta

import pytest
from nodewright_aws.duration import parse_duration
from nodewright_aws.prices.settings import PriceSettings


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("5m", 300), ("1h30m", 5400), ("2d", 172800), ("1.5h", 5400), ("0s", 0)]
)
def test_a_duration_is_a_number_with_a_unit_or_several(text, seconds):
    assert parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("value", ["", "5", 5, "5 minutes", "-5m", "m", "PT5M", None, True])
def test_anything_else_is_refused(value):
    with pytest.raises(ValueError, match="is not a duration: write a number with a unit"):
        parse_duration(value)


def test_the_schema_shows_defaults_as_people_write_them():
    properties = PriceSettings.model_json_schema()["properties"]
    assert properties["onDemandInterval"]["default"] == "12h"
    assert properties["spotInterval"]["default"] == "5m"
