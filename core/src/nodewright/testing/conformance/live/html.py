"""Reports as a page for browsers: one file that needs no other, with neither scripts nor assets from outside."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape

from nodewright.testing.conformance.live.contract import says
from nodewright.testing.conformance.live.results import Outcome, Report, Result

#: Each outcome is a word and a sign: nobody has to tell colours apart.
_SIGNS = {Outcome.FAILED: "✗", Outcome.PASSED: "✓", Outcome.SKIPPED: "–"}
_PYDOC = "pydoc nodewright.api."

_STYLE = """
:root { color-scheme: light dark; --ground: #fff; --text: #1d2126; --faint: #59626d; --line: #d5dae0; --panel: #f4f6f8;
  --failed: #b3261e; --passed: #17693a; --skipped: #59626d; --link: #0b57a4; }
@media (prefers-color-scheme: dark) { :root { --ground: #14171a; --text: #e4e7ea; --faint: #a3adb8; --line: #363d45;
  --panel: #1d2227; --failed: #ff8a80; --passed: #6fd398; --skipped: #a3adb8; --link: #8ec2ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1rem 4rem; background: var(--ground); color: var(--text);
  font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; } h2 { font-size: 1.2rem; margin: 2.25rem 0 .75rem; }
h3 { font-size: 1rem; margin: 0 0 .25rem; } p { margin: .25rem 0 .75rem; }
a { color: var(--link); } code, pre { font: .875em/1.5 ui-monospace, monospace; }
pre { background: var(--panel); padding: .75rem; border-radius: .4rem; overflow-x: auto;
  white-space: pre-wrap; margin: .25rem 0; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: .2rem; }
.verdict { font-size: 1.1rem; margin: 0 0 1rem; } .faint { color: var(--faint); }
.counts { display: flex; flex-wrap: wrap; gap: .75rem; list-style: none; margin: 0; padding: 0; }
.counts li { flex: 1 1 8rem; border: 1px solid var(--line); border-top: 4px solid;
  border-radius: .4rem; padding: .5rem .9rem; }
.counts strong { display: block; font-size: 1.7rem; line-height: 1.2; }
.failed { color: var(--failed); } .passed { color: var(--passed); } .skipped { color: var(--skipped); }
.outcome { white-space: nowrap; font-weight: 600; }
article, .trouble { border: 1px solid var(--line); border-left: 5px solid var(--failed); border-radius: .4rem;
  padding: .75rem 1rem; margin: 0 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem .4rem 0; border-bottom: 1px solid var(--line); }
thead th { color: var(--faint); font-weight: 600; } tbody th { font-weight: 400; }
.facts th { width: 9rem; color: var(--faint); }
.number { text-align: right; padding-right: 1.2rem; width: 4rem; font-variant-numeric: tabular-nums; }
.rules th:first-child { width: 56%; } .rules th:nth-child(2) { width: 6.5rem; }
th p { margin: .1rem 0; font-size: .875rem; } section > h3 { margin: 1.25rem 0 .25rem; }
summary { cursor: pointer; padding: .35rem 0; } details.theme { border-top: 1px solid var(--line); }
details.theme > summary { padding: .6rem 0; } details.theme > summary h3 { display: inline; margin-right: .6rem; }
.filter { display: flex; flex-wrap: wrap; gap: .4rem 1.2rem; margin: 0 0 .75rem; padding: 0; border: 0; }
body:has(#show-passed:not(:checked)) tr.is-passed,
body:has(#show-skipped:not(:checked)) tr.is-skipped { display: none; }
@media (max-width: 40rem) { .rules thead { display: none; }
  .rules tr { display: block; padding: .4rem 0; border-bottom: 1px solid var(--line); }
  .rules th, .rules td { display: block; width: auto !important; border: 0; padding: .1rem 0; } }
@media print { body { max-width: none; } .filter { display: none; } }
"""


def as_html(report: Report) -> str:
    """Return *report* as a page: the summary, what is broken, why rules were skipped, and all rules by theme."""
    title = f"Conformance of provider {report.provider}"
    parts = [
        f"<header><h1>{escape(title)}</h1>",
        f'<p class="verdict">{escape(_verdict(report))}</p>',
        _counts(report),
        "</header><main>",
        _broken(report.broken),
        _facts(report),
        _themes(report),
        _skipped(report),
        _contract(report),
        "</main>",
    ]
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>",
            *filter(None, parts),
            "</body></html>\n",
        )
    )


def _verdict(report: Report) -> str:
    broken = report.count(Outcome.FAILED)
    if broken:
        return f"{broken} rule is broken." if broken == 1 else f"{broken} rules are broken."
    if not report.count(Outcome.PASSED):
        return "No rule could be tried."
    return "No rule that was tried is broken."


def _counts(report: Report) -> str:
    items = "".join(
        f'<li class="{each}"><strong>{report.count(each)}</strong>{_SIGNS[each]} {each}</li>' for each in _SIGNS
    )
    trouble = f'<p class="trouble" role="alert">{escape(report.trouble)}</p>' if report.trouble else ""
    return f'{trouble}<ul class="counts">{items}</ul>'


def _facts(report: Report) -> str:
    rows = {
        "provider": f"{report.provider} of {report.distribution}",
        "Nodewright": f"{report.nodewright}, contract {report.contract}, Python {report.python}",
        "when": f"{report.at:%Y-%m-%d %H:%M} UTC",
        "how": f"{report.mode}, group {report.group}",
    }
    told = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>' for name, value in rows.items()
    )
    settings = escape(json.dumps(report.config, indent=2))
    return (
        f'<section aria-labelledby="run"><h2 id="run">The run</h2><table class="facts"><tbody>{told}</tbody></table>'
        f"<details><summary>Settings, without secrets</summary><pre>{settings}</pre></details></section>"
    )


def _broken(results: Sequence[Result]) -> str:
    if not results:
        return ""
    articles = "".join(
        f"<article><h3>{_sign(Outcome.FAILED)} {escape(result.rule.name)}</h3><p>{_words(result.rule.sentence)}</p>"
        f'<p class="faint">What happened:</p><pre>{escape(result.reason)}</pre>'
        f"{_read_on(result.rule.read_on)}</article>"
        for result in results
    )
    return f'<section aria-labelledby="broken"><h2 id="broken">Broken rules</h2>{articles}</section>'


def _read_on(places: Iterable[str]) -> str:
    """Where to read on: parts of the contract, which stand at the end of the page, and pages of the documentation."""
    told = (
        f'<a href="#{escape(part)}"><code>{escape(part)}</code></a>'
        if part != place
        else f"<code>{escape(place)}</code>"
        for place in places
        for part in [place.removeprefix(_PYDOC)]
    )
    return f'<p class="faint">To read on: {", ".join(told)}</p>'


def _contract(report: Report) -> str:
    """What the contract says of all that rules are about."""
    places = (place for result in report.results for place in result.rule.read_on if place.startswith(_PYDOC))
    parts = sorted({place.removeprefix(_PYDOC) for place in places})
    if not parts:
        return ""
    told = "".join(
        f'<h3 id="{escape(part)}"><code>{escape(part)}</code></h3><pre>{escape(says(part))}</pre>' for part in parts
    )
    return f'<section aria-labelledby="contract"><h2 id="contract">What the contract says</h2>{told}</section>'


def _skipped(report: Report) -> str:
    if not report.skipped:
        return ""
    rows = "".join(
        f'<tr><td class="number">{count}</td><td>{escape(reason)}</td></tr>' for reason, count in report.skipped.items()
    )
    return (
        '<section aria-labelledby="skipped"><h2 id="skipped">Why rules were skipped</h2><table><thead><tr>'
        f'<th scope="col" class="number">rules</th><th scope="col">why</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></section>"
    )


def _themes(report: Report) -> str:
    boxes = "".join(
        f'<label><input type="checkbox" id="show-{each}" checked> {_SIGNS[each]} show what {verb}</label>'
        for each, verb in ((Outcome.PASSED, "passed"), (Outcome.SKIPPED, "was skipped"))
    )
    themes = "".join(_theme(theme, results) for theme, results in report.themes.items())
    return (
        '<section aria-labelledby="rules"><h2 id="rules">All rules</h2>'
        f'<fieldset class="filter"><legend class="faint">Filter</legend>{boxes}</fieldset>{themes}</section>'
    )


def _theme(theme: str, results: Sequence[Result]) -> str:
    counts = Counter(result.outcome for result in results)
    told = ", ".join(f"{_SIGNS[each]} {counts[each]} {each}" for each in _SIGNS if counts[each])
    tone = "failed" if counts[Outcome.FAILED] else "passed" if counts[Outcome.PASSED] else "skipped"
    opened = " open" if counts[Outcome.FAILED] else ""
    rows = "".join(map(_row, results))
    return (
        f'<details class="theme"{opened}><summary><h3>{_words(theme)}</h3><span class="{tone}">{told}</span></summary>'
        '<table class="rules"><thead><tr><th scope="col">rule</th><th scope="col">result</th>'
        '<th scope="col">why</th></tr>'
        f"</thead><tbody>{rows}</tbody></table></details>"
    )


def _row(result: Result) -> str:
    return (
        f'<tr class="is-{result.outcome}"><th scope="row"><strong>{escape(result.rule.name)}</strong><br>'
        f"{_words(result.rule.sentence)}{_read_on(result.rule.read_on)}</th>"
        f"<td>{_sign(result.outcome)}</td><td>{escape(result.reason)}</td></tr>"
    )


def _sign(outcome: Outcome) -> str:
    return f'<span class="outcome {outcome}">{_SIGNS[outcome]} {outcome}</span>'


def _words(text: str) -> str:
    """A sentence, with what is in backticks as code."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if at % 2 else part for at, part in enumerate(parts))
