"""What users may write about the fake provider."""

import subprocess
import sys

import pytest
from nodewright.api import ConfigurationError, ProviderContext
from nodewright.testing.clock import SteppedClock
from nodewright_fake.provider import FakeProvider
from pydantic import ValidationError


def test_the_url_may_come_from_the_environment(monkeypatch) -> None:
    monkeypatch.setenv("NODEWRIGHT_FAKE_URL", "http://127.0.0.1:7070")
    assert FakeProvider.Config().url == "http://127.0.0.1:7070"


def test_a_missing_url_is_a_mistake(monkeypatch) -> None:
    monkeypatch.delenv("NODEWRIGHT_FAKE_URL", raising=False)
    with pytest.raises(
        ValidationError, match="is missing: write the URL that `nodewright world up` prints, or set NODEW"
    ):
        FakeProvider.Config()


@pytest.mark.parametrize("url", ["127.0.0.1:7070", "https://127.0.0.1", "http://"])
def test_a_url_that_can_not_be_one_is_a_mistake(url) -> None:
    with pytest.raises(
        ValidationError, match=r"is not a URL of a fake cloud: write one such as http://127\.0\.0\.1:7070"
    ):
        FakeProvider.Config(url=url)


@pytest.mark.parametrize("rule", ["fake:", "fake:team", "asg:tag=a", "fake:team=a,", "fake:=a"])
def test_a_discovery_rule_that_can_not_be_read_is_a_mistake(rule) -> None:
    context = ProviderContext(clock=SteppedClock(), discovery=(rule,))
    with pytest.raises(ConfigurationError) as refused:
        FakeProvider(FakeProvider.Config(url="http://127.0.0.1:1"), context)
    assert str(refused.value) == (
        f"{rule!r}, of discovery or --node-group-auto-discovery, is no rule of the fake provider: "
        "write fake:label=value,label=value"
    )


def test_the_plugin_can_be_imported_without_the_world() -> None:
    program = (
        "import sys, nodewright_fake.provider; print(*(m for m in sys.modules if m.startswith('nodewright_fake')))"
    )
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "nodewright_fake.provider.provider" in loaded
    assert not [name for name in loaded if any(word in name for word in ("apiserver", "controllers", "server", "yaml"))]
