"""The page about deciding from Python says what its code prints."""

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from nodewright.library import read_scenario

PAGE = (Path(__file__).parents[2] / "docs/library.md").read_text()
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def printed(tmp_path, monkeypatch):
    """What each block of code printed: all are run in order, in one file, beside the picture of the page."""
    monkeypatch.chdir(tmp_path)
    ((_, picture),) = [block for block in BLOCKS if block[0] == "yaml"]
    Path("picture.yaml").write_text(picture)
    names: dict[str, object] = {}
    texts = []
    for language, code in BLOCKS:
        if language == "python":
            with redirect_stdout(StringIO()) as text:
                exec(code, names)
            texts.append(text.getvalue())
    return texts


def test_the_code_on_the_page_prints_what_the_page_says(printed) -> None:
    assert printed == [text for language, text in BLOCKS if language == "text"]
    assert len(read_scenario(Path("by-hand.json")).nodes) == 1


def test_every_block_of_code_is_followed_by_what_it_prints() -> None:
    assert [language for language, _ in BLOCKS] == ["yaml", *["python", "text"] * (len(BLOCKS) // 2)]
