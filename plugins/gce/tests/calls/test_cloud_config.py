"""The file of ``--cloud-config``."""

import pytest
from nodewright.api import ConfigurationError
from nodewright_gce.calls.cloud_config import CloudConfig, read_cloud_config


@pytest.fixture
def read(tmp_path):
    def write_and_read(text):
        path = tmp_path / "gce.conf"
        path.write_text(text)
        return read_cloud_config(str(path))

    return write_and_read


def test_four_keys_are_read_and_others_ignored(read) -> None:
    text = """
    [global]
    project-id = "my-project"
    local-zone = europe-west1-b
    token-url = https://gke/token
    token-body = "{\\"a\\": 1}"
    network-name = default   ; for the cloud controller manager
    multizone = true
    regional
    [other]
    project-id = not-this
    """
    found = read("\n".join(line.strip() for line in text.splitlines()))

    assert (found.project, found.local_zone, found.token_url) == ("my-project", "europe-west1-b", "https://gke/token")
    assert found.token_body == '{"a": 1}'


@pytest.mark.parametrize("text", ["", "[global]\n", '[Global]\ntoken-url = nil\nproject-id = ""\n'])
def test_what_is_not_set_is_empty(read, text) -> None:
    assert read(text) == CloudConfig()


def test_the_mark_that_some_editors_begin_a_file_with_is_no_part_of_it(read) -> None:
    assert read("\ufeff[global]\r\nproject-id = shop\r\n").project == "shop"


def test_a_file_that_is_none_is_named_with_the_line(read) -> None:
    with pytest.raises(ConfigurationError, match=r"gce\.conf: cloudConfig: can't be read: not in the format .*line 1"):
        read("token-body = secret\n")


def test_no_message_and_no_text_has_the_body_for_tokens(read) -> None:
    with pytest.raises(ConfigurationError) as raised:
        read("token-body = hush\n[global]\n")
    assert "hush" not in str(raised.value)
    assert "hush" not in repr(read("[global]\ntoken-body = hush\n"))


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(ConfigurationError, match="/nowhere: cloudConfig: can't be read: No such file"):
        read_cloud_config("/nowhere")
