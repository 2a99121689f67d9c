"""Reports as Markdown and as JSON."""

import json
from dataclasses import asdict

from nodewright.testing.conformance.live.results import Outcome, Report, Result


def as_json(report: Report) -> str:
    """Return *report* as a JSON object."""
    data = asdict(report)
    data["at"] = report.at.isoformat()
    data["summary"] = {outcome.value: report.count(outcome) for outcome in Outcome}
    data["results"] = [
        {**asdict(result.rule), "outcome": result.outcome.value, "reason": result.reason} for result in report.results
    ]
    return json.dumps(data, indent=2) + "\n"


def as_markdown(report: Report) -> str:
    """Return *report* as a page, what is broken first."""
    lines = [
        f"# Conformance of provider {report.provider}",
        "",
        f"{report.summary.capitalize()}." + (f" {report.trouble}" if report.trouble else ""),
        "",
        "| | |",
        "|---|---|",
        f"| provider | {_cell(f'{report.provider} of {report.distribution}')} |",
        f"| Nodewright | {report.nodewright}, contract {report.contract}, Python {report.python} |",
        f"| when | {report.at:%Y-%m-%d %H:%M} UTC |",
        f"| how | {report.mode}, group {_cell(report.group)} |",
        f"| settings | {_cell(json.dumps(report.config))} |",
    ]
    if report.broken:
        lines += ["", "## Broken rules", "", *map(_broken, report.broken)]
    if report.skipped:
        lines += ["", "## Why rules were skipped", "", "| rules | why |", "|---|---|"]
        lines += [f"| {count} | {_cell(reason)} |" for reason, count in report.skipped.items()]
    for theme, results in report.themes.items():
        lines += ["", f"## {theme}", "", "| rule | result |", "|---|---|", *map(_row, results)]
    return "\n".join(lines) + "\n"


def _broken(result: Result) -> str:
    read_on = ", ".join(f"`{each}`" for each in result.rule.read_on)
    return f"- **{result.rule.sentence}** {' '.join(result.reason.split())}" + (
        f" To read on: {read_on}" if read_on else ""
    )


def _row(result: Result) -> str:
    outcome = result.outcome if result.outcome is not Outcome.FAILED else f"**{result.outcome}**"
    told = f"{outcome}: {result.reason}" if result.reason else outcome
    return f"| {_cell(result.rule.sentence)} | {_cell(told)} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
