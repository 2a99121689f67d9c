"""The page about new nodes names all that can be set."""

from pathlib import Path

import pytest
from nodewright_gce.config.templates import KubeletSettings, TemplateSettings
from nodewright_gce.templates.node_metadata import read_node_metadata
from pydantic.alias_generators import to_camel

PAGE = Path(__file__).parents[4] / "docs/providers/gce/allocatable.md"


@pytest.mark.parametrize(
    "setting", [*KubeletSettings.model_fields, *(each for each in TemplateSettings.model_fields if each != "kubelet")]
)
def test_the_page_has_every_setting(setting) -> None:
    assert f"`{to_camel(setting)}`" in PAGE.read_text()


def test_the_page_has_every_key_of_metadata() -> None:
    (mistake,) = read_node_metadata({"nodewright-": ""}).mistakes
    keys = mistake.partition(": write ")[2].split(", ")
    assert len(keys) == 8
    assert [key for key in keys if f"`{key}`" not in PAGE.read_text()] == []
