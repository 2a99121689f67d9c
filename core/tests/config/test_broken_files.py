"""Every file in ``broken`` ends with what is to be said about it, line by line, behind ``#:``."""

from pathlib import Path

import pytest
from nodewright.api import ConfigurationError
from nodewright.config.document import load

BROKEN = Path(__file__).with_name("broken")


@pytest.mark.parametrize("name", sorted(path.stem for path in BROKEN.glob("*.yaml")))
def test_a_broken_file_is_told_all_that_is_wrong_with_it(name, classes, monkeypatch) -> None:
    monkeypatch.chdir(BROKEN)
    text = Path(f"{name}.yaml").read_text()
    expected = [line.removeprefix("#: ") for line in text.splitlines() if line.startswith("#: ")]
    with pytest.raises(ConfigurationError) as caught:
        load(Path(f"{name}.yaml"), classes=classes)
    assert str(caught.value).splitlines() == expected


def test_there_are_enough_of_them() -> None:
    assert len(list(BROKEN.glob("*.yaml"))) >= 12
