"""Reports of a run: one model, as a page for browsers, as Markdown and as JSON; and how long a run will take."""

import json
import re
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest
from nodewright.testing.conformance.live.contract import parts_named_in, says
from nodewright.testing.conformance.live.html import as_html
from nodewright.testing.conformance.live.pace import Pace
from nodewright.testing.conformance.live.pages import as_json, as_markdown
from nodewright.testing.conformance.live.results import Outcome, Report, Result, Rule


def a_rule(name="growth is whole", *, theme="Growth of groups", needs=(), read_on=()):
    sentence = f"`increase` sees to it that {name} & < that."
    return Rule(name=name, sentence=sentence, theme=theme, needs=tuple(needs), read_on=tuple(read_on))


def a_result(outcome, name, reason="", **fields):
    return Result(rule=a_rule(name, **fields), outcome=outcome, reason=reason)


RESULTS = (
    a_result(Outcome.PASSED, "growth is whole", read_on=["docs/conformance.md#growthconformance"]),
    a_result(
        Outcome.FAILED,
        "growth adds up",
        "after increase(1) <script>alert(1)</script> it is 7",
        read_on=["docs/conformance.md#growthconformance", "pydoc nodewright.api.NodeGroup.increase"],
    ),
    a_result(Outcome.SKIPPED, "a machine vanishes", "the cloud can't", theme="Refreshing"),
    a_result(Outcome.SKIPPED, "a group vanishes", "the cloud\ncan't", theme="Refreshing"),
    a_result(Outcome.SKIPPED, "prices", "no prices", theme="Prices"),
)


def a_report(*results, **fields):
    given = {
        "provider": "shed",
        "distribution": "acme 1.2",
        "nodewright": "0.1.0",
        "contract": 1,
        "python": "3.11.7",
        "at": datetime(2024, 5, 13, 9, tzinfo=UTC),
        "mode": "full",
        "group": "web",
        "config": {"region": "eu-1", "token": "***"},
        "results": results or RESULTS,
    }
    return Report(**(given | fields))


class Page(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.words = []
        self.feed(text)
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data):
        if self.tags and self.tags[-1][0] != "style":
            self.words.append(data)

    def named(self, *names):
        return [attributes for tag, attributes in self.tags if tag in names]


class TestPage:
    """The page for browsers."""

    def test_it_begins_with_the_summary(self) -> None:
        page = Page(as_html(a_report()))
        begin = "Conformance of provider shed 1 rule is broken. 1 ✗ failed 1 ✓ passed 3 – skipped"
        assert page.text.removeprefix("Conformance of provider shed ").startswith(begin)

    def test_it_needs_nothing_from_elsewhere(self) -> None:
        text = as_html(a_report())
        page = Page(text)
        assert page.named("script", "link", "img", "iframe") == []
        assert not re.search(r"url\(|@import|https?://", text)
        assert all(link["href"].startswith("#") for link in page.named("a"))

    def test_every_link_leads_somewhere(self) -> None:
        page = Page(as_html(a_report()))
        ids = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
        links = {link["href"].removeprefix("#") for link in page.named("a")}
        assert links
        assert links <= ids

    def test_what_a_provider_says_is_text(self) -> None:
        text = as_html(a_report())
        assert "<script" not in text
        assert "after increase(1) <script>alert(1)</script> it is 7" in Page(text).text

    def test_it_follows_the_browser_in_light_and_dark(self) -> None:
        text = as_html(a_report())
        assert "color-scheme: light dark" in text
        assert "@media (prefers-color-scheme: dark)" in text

    def test_themes_with_a_broken_rule_are_open(self) -> None:
        themes = [each for each in Page(as_html(a_report())).named("details") if each.get("class") == "theme"]
        assert ["open" in theme for theme in themes] == [True, False, False]

    def test_what_a_broken_rule_is_about_is_on_the_page(self) -> None:
        assert " ".join(says("NodeGroup.increase").split()) in Page(as_html(a_report())).text

    def test_trouble_is_told_at_the_top(self) -> None:
        text = Page(as_html(a_report(trouble="group web was not set back"))).text
        assert text.index("group web was not set back") < text.index("Broken rules")

    def test_a_run_without_a_broken_rule_says_so(self) -> None:
        text = Page(as_html(a_report(*RESULTS[:1]))).text
        assert "No rule that was tried is broken." in text
        assert "Broken rules" not in text


@pytest.mark.parametrize("write", [as_html, as_markdown, as_json], ids=lambda write: write.__name__)
def test_every_form_tells_the_same(write) -> None:
    text = Page(write(a_report())).text if write is as_html else write(a_report())
    wanted = [result.rule.name for result in RESULTS] if write is as_html else []
    wanted += ["acme 1.2", "0.1.0", "3.11.7", "full", "eu-1", "no prices", "it is 7", "NodeGroup.increase"]
    wanted += [result.rule.sentence.replace("`", "" if write is as_html else "`") for result in RESULTS]
    assert [each for each in wanted if each not in text] == []


def test_reasons_why_rules_were_skipped_are_counted() -> None:
    assert a_report().skipped == {"the cloud can't": 2, "no prices": 1}
    assert "| 2 | the cloud can't |" in as_markdown(a_report())


def test_json_has_what_each_rule_needs_and_where_to_read_on() -> None:
    results = json.loads(as_json(a_report(a_result(Outcome.PASSED, "x", needs=["Ability.CHANGE"]))))["results"]
    assert (results[0]["needs"], results[0]["read_on"]) == (["Ability.CHANGE"], [])


class TestContract:
    """Parts of the contract, found in what rules say."""

    def test_methods_are_found_in_backticks(self) -> None:
        text = "`increase` beyond `max_size` raises `SizeLimitError`; see `Provider.refresh` and min_size."
        assert parts_named_in(text) == ("NodeGroup.increase", "NodeGroup.max_size", "Provider.refresh")

    def test_what_is_no_method_says_nothing(self) -> None:
        assert [says(each) for each in ("NodeGroup.vanish", "Nobody.increase", "NodeGroup")] == ["", "", ""]


class TestPace:
    """How long the rest of a run will take."""

    def begun(self):
        pace = Pace({"Ability.CHANGE"})
        reads = [a_rule(f"read {n}") for n in range(4)]
        grows = [a_rule(f"grow {n}", needs=["Ability.CHANGE", "Capability.PRICES"]) for n in range(3)]
        lacks = [a_rule("vanish", needs=["Ability.CHANGE", "Ability.VANISH"])]
        rules = [*reads, *grows, *lacks]
        pace.begin(rules)
        return pace, rules

    def tried(self, pace, rules, seconds, outcome=Outcome.PASSED):
        now = 1000.0
        for rule in rules:
            pace.start(now)
            pace.tell(Result(rule=rule, outcome=outcome), now + seconds)

    def test_nothing_is_promised_before_a_rule_of_each_kind_was_tried(self) -> None:
        pace, rules = self.begun()
        assert pace.left is None
        self.tried(pace, rules[:4], 2)
        assert pace.left is None

    def test_rules_that_resize_are_reckoned_apart_and_those_that_are_skipped_not_at_all(self) -> None:
        pace, rules = self.begun()
        self.tried(pace, rules[:2], 2)
        self.tried(pace, rules[4:5], 60)
        assert pace.left == 2 * 2 + 2 * 60
        assert pace.done == "3 of 8"

    def test_a_rule_that_was_skipped_tells_nothing_of_the_others(self) -> None:
        pace, rules = self.begun()
        self.tried(pace, rules[:2], 2)
        self.tried(pace, rules[4:5], 60)
        self.tried(pace, rules[5:6], 0, Outcome.SKIPPED)
        assert pace.left == 2 * 2 + 60
