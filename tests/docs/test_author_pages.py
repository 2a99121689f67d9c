"""The code on the page for authors of strategies that needs no plugin of its own does what the page says."""

import json
import re
from pathlib import Path
from typing import Any

from nodewright.api import Decision, Grow, Reason, Verdict, from_json
from nodewright.testing import EPOCH, a_policy

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "strategy-authors.md").read_text()


def run_block(word: str) -> dict[str, Any]:
    """Run the one block of the page that has *word* in it, and return its names."""
    (code,) = (block for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if word in block)
    names: dict[str, Any] = {"__name__": "page"}
    exec(code, names)
    return names


def test_a_pod_is_built_by_hand() -> None:
    names = run_block("NodeSelectorTerm")
    assert names["pod"].spec.tolerations == (names["patient"],)
    assert names["pod"].requests == names["web"].requests


def test_an_observer_writes_decisions_down() -> None:
    diary = run_block("class Diary")["Diary"]
    plugin = diary(diary.Config())
    verdict = Verdict(reason=Reason.CHOSEN)
    decision = Decision(at=EPOCH, grow=(Grow(group="base", count=1, from_size=0, verdict=verdict),))
    hooks = a_policy(hooks={"diary": plugin}).hooks
    hooks.on_decision(Decision(at=EPOCH))
    hooks.on_decision(decision)
    assert from_json(Decision, json.loads(plugin.lines.get_nowait())) == decision
    assert plugin.lines.empty()
