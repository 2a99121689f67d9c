"""Writes the bundled table of rates: ``python -m nodewright_gce.prices.writing``."""

import json
from argparse import ArgumentParser, Namespace
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any

import msgspec

from nodewright_gce.calls.google_compute import GoogleCompute
from nodewright_gce.config.gce import GceConfig
from nodewright_gce.prices.catalogue import rates_in
from nodewright_gce.prices.listing import rates_of
from nodewright_gce.prices.rates import Item, Kind, Rate, Rates
from nodewright_gce.prices.table import FILE, UNIT
from nodewright_gce.resources.resource import Resource
from nodewright_gce.resources.sku import Sku

_GOOGLE = "Google"


class _Page(Resource, frozen=True, kw_only=True):
    skus: tuple[Sku, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Source:
    """Rates by region, and who told them when."""

    name: str
    date: str
    regions: Mapping[str, Rates] = field(default_factory=dict)


def table_of(sources: Iterable[Source], known: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the content of the table: of several *sources* that have a rate, the last counts.

    Regions that none has stay as they are in the *known* content.
    """
    entries: dict[str, Any] = dict(known["regions"]) if known else {}
    rates: dict[str, dict[Item, Rate]] = defaultdict(dict)
    names: dict[str, dict[str, str]] = defaultdict(dict)
    for source in sources:
        for region, found in source.regions.items():
            rates[region] |= found
            names[region][source.name] = source.date
    entries |= {region: {"sources": names[region], **_entry(found)} for region, found in rates.items()}
    return {"regions": dict(sorted(entries.items()))}


def read_catalogue(pages: Iterable[bytes], *, date: str) -> Source:
    """Return the rates in saved answers of ``services.skus.list``."""
    skus = [sku for page in pages for sku in msgspec.json.decode(page, type=_Page).skus]
    return Source(name=_GOOGLE, date=date, regions=rates_in(skus))


def read_listing(content: Mapping[str, Any], *, name: str, date: str) -> Source:
    """Return the rates behind prices of the form ``{region: {"on_demand": {type: price}, "spot": {type: price}}}``."""
    regions = {region: rates_of(prices["on_demand"], prices.get("spot", {})) for region, prices in content.items()}
    return Source(name=name, date=date, regions=regions)


def read_rates(content: Mapping[str, Any], *, name: str, date: str) -> Source:
    """Return rates of the form ``{region: {kind: {name: [on demand, spot]}}}``, in USD per hour, spot optional."""
    regions = {
        region: {
            Item(Kind(kind), item): Rate(on_demand=amounts[0], spot=amounts[1] if amounts[1:] else None)
            for kind, items in kinds.items()
            for item, amounts in items.items()
        }
        for region, kinds in content.items()
    }
    return Source(name=name, date=date, regions=regions)


def main(arguments: Sequence[str] | None = None) -> None:
    """Ask Google, or read the sources on the command line, and write their rates into the table."""
    chosen = _parse_arguments(arguments)
    known = json.loads(chosen.out.read_text("utf-8")) if chosen.out.exists() else None
    chosen.out.write_text(_text(table_of(list(_sources(chosen)), known)), "utf-8")


def _sources(chosen: Namespace) -> Iterable[Source]:
    files = [("listing", text) for text in chosen.listing] + [("rates", text) for text in chosen.rates]
    for form, text in files:
        name, date, path = text.split(":", 2)
        read = read_listing if form == "listing" else read_rates
        yield read(json.loads(Path(path).read_text("utf-8")), name=name, date=date)
    if chosen.catalogue:
        date, _, path = chosen.catalogue.partition(":")
        yield read_catalogue((each.read_bytes() for each in sorted(Path(path).glob("*.json"))), date=date)
    elif not files:
        yield ask(GceConfig())


def ask(settings: GceConfig) -> Source:
    """Return Google's rates of today."""
    clock = _Clock()
    google = GoogleCompute(settings, clock, "nodewright")
    try:
        return Source(name=_GOOGLE, date=f"{clock.now():%Y-%m-%d}", regions=rates_in(google.skus("USD")))
    finally:
        google.close()


class _Clock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def wait(self, event: Event, timeout: float) -> bool:
        return event.wait(timeout)


def _parse_arguments(arguments: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(prog="python -m nodewright_gce.prices.writing", description=main.__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name(FILE))
    parser.add_argument("--catalogue", metavar="DATE:FOLDER", help="saved pages of the billing catalogue, *.json")
    parser.add_argument(
        "--listing",
        metavar="NAME:DATE:FILE",
        action="append",
        default=[],
        help="prices of whole machine types by region",
    )
    parser.add_argument(
        "--rates", metavar="NAME:DATE:FILE", action="append", default=[], help="rates by region, kind and name"
    )
    return parser.parse_args(arguments)


def _entry(rates: Rates) -> dict[str, dict[str, list[int | None]]]:
    entry: dict[str, dict[str, list[int | None]]] = {}
    for item, rate in sorted(rates.items()):
        amounts = [_whole(rate.on_demand), _whole(rate.spot)]
        entry.setdefault(item.kind, {})[item.name] = amounts if rate.spot is not None else amounts[:1]
    return entry


def _whole(amount: float | None) -> int | None:
    return None if amount is None else round(amount / UNIT)


def _text(table: Mapping[str, Any]) -> str:
    """Return the table as JSON with a line for each region, to keep diffs readable."""
    lines = (
        f"{json.dumps(name)}:{json.dumps(entry, separators=(',', ':'))}" for name, entry in table["regions"].items()
    )
    return '{"regions":{\n' + ",\n".join(lines) + "\n}}\n"


if __name__ == "__main__":
    main()
