"""Writes the bundled table of on-demand prices: ``python -m nodewright_aws.prices.writing``."""

import json
import re
from argparse import ArgumentParser, Namespace
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nodewright_aws.calls import Aws, Calls
from nodewright_aws.config import AwsConfig
from nodewright_aws.prices.price_list import on_demand_prices

BASE = "us-east-1"
#: How far a price may be from the base region's price times the factor of its family, as a share.
_TOLERANCE = 0.0005
#: Ratios this close count as equal, for regions that only a rough source knows.
_ROUGHLY = 0.004
_FAIR_SHARE = 0.25
#: If a price in the base region is this far from a rough source's, AWS has changed it since.
_CHANGED = 0.12

_REGION = re.compile(r'"([a-z]{2}(?:-[a-z]+)+-\d)": *{')
_PRICE = re.compile(r'"([a-z0-9-]+\.[a-z0-9-]+)": *([0-9.]+)')


@dataclass(frozen=True, kw_only=True)
class Listing:
    """Hourly prices of a region, by instance type."""

    date: str
    source: str
    prices: Mapping[str, float]


def table_of(
    exact: Mapping[str, Listing], rough: Mapping[str, Listing], known: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the content of the table: if both have a region, the *exact* listing counts.

    Regions that neither has stay as they are in the *known* content.
    """
    entries = dict(known["regions"]) if known else {}
    base = exact[BASE].prices if BASE in exact else _joined(entries[BASE]["prices"])
    entries |= {region: _rough(listing, rough.get(BASE), base) for region, listing in rough.items() if region != BASE}
    entries |= {region: _exact(region, listing, base) for region, listing in exact.items()}
    return {"base": BASE, "regions": dict(sorted(entries.items()))}


def read_listing(text: str, *, source: str, date: str) -> dict[str, Listing]:
    """Return the listings in a text of the form ``"region": { "type": price, …``."""
    names = list(_REGION.finditer(text))
    ends = [*(name.start() for name in names[1:]), len(text)]
    return {
        name[1]: Listing(
            date=date,
            source=source,
            prices={price[1]: float(price[2]) for price in _PRICE.finditer(text, name.end(), end)},
        )
        for name, end in zip(names, ends, strict=True)
    }


def read_libcloud(content: Mapping[str, Any]) -> dict[str, Listing]:
    """Return the listings in the prices that come with Apache Libcloud."""
    date = f"{datetime.fromtimestamp(content['updated'], UTC):%Y-%m-%d}"
    regions: dict[str, dict[str, float]] = defaultdict(dict)
    for instance_type, prices in content["compute"]["ec2_linux"].items():
        for region, price in prices.items():
            regions[region][instance_type] = price
    return {region: Listing(date=date, source="libcloud", prices=prices) for region, prices in regions.items()}


def read_api(regions: Iterable[str], aws_of: Callable[[str], Calls]) -> dict[str, Listing]:
    """Return AWS' own listings of *regions*, each asked through *aws_of*."""
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    return {
        region: Listing(date=today, source="price list API", prices=on_demand_prices(aws_of(region), region))
        for region in regions
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the sources on the command line, and write their prices into the table."""
    chosen = _parse_arguments(arguments)
    exact: dict[str, Listing] = {}
    for listing in chosen.listing:
        date, _, path = listing.partition(":")
        exact |= read_listing(Path(path).read_text("utf-8"), source=chosen.source, date=date)
    exact |= read_api(chosen.region, lambda region: Aws(_config(region, chosen.profile), user_agent="nodewright"))
    rough = read_libcloud(json.loads(chosen.libcloud.read_text("utf-8"))) if chosen.libcloud else {}
    known = json.loads(chosen.out.read_text("utf-8")) if chosen.out.exists() else None
    chosen.out.write_text(_text(table_of(exact, rough, known)), "utf-8")


def _config(region: str, profile: str) -> AwsConfig:
    return AwsConfig(region=region, profile=profile)


def _parse_arguments(arguments: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(prog="python -m nodewright_aws.prices.writing", description=main.__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("on-demand.json"))
    parser.add_argument("--region", action="append", default=[], help="ask AWS for the prices of this region")
    parser.add_argument("--profile", default="", help="a profile of the SDK whose credentials are used for that")
    parser.add_argument(
        "--listing",
        metavar="DATE:FILE",
        action="append",
        default=[],
        help='a file of "region": {"type": price}, and the date of its prices, such as 2026-07-20',
    )
    parser.add_argument("--source", default="", help="the source of the listings")
    parser.add_argument(
        "--libcloud", type=Path, help="pricing.json of Apache Libcloud, for regions not known otherwise"
    )
    return parser.parse_args(arguments)


def _exact(region: str, listing: Listing, base: Mapping[str, float]) -> dict[str, Any]:
    """Return an entry: factors for families whose prices are proportional to the base, prices for the others."""
    factors: dict[str, float] = {}
    prices: dict[str, dict[str, float]] = {}
    for family, sizes in _by_family(listing.prices).items():
        based = {size: base.get(f"{family}.{size}", 0.0) for size in sizes}
        factor = round(sum(sizes.values()) / (sum(based.values()) or 1.0), 6)
        if region != BASE and all(
            abs(price - based[size] * factor) <= _TOLERANCE * price for size, price in sizes.items()
        ):
            factors[family] = factor
        else:
            prices[family] = sizes
    return _entry(listing, factors=factors, prices=prices)


def _rough(listing: Listing, known_base: Listing | None, base: Mapping[str, float]) -> dict[str, Any]:
    """Return an entry with a factor for each family: the one that most of its sizes agree on."""
    factors = _agreed(listing.prices, base)
    changes = _agreed(known_base.prices, base) if known_base else {}
    for family, change in changes.items():
        if family in factors and abs(change - 1) > _CHANGED:
            factors[family] = round(factors[family] / change, 6)
    return _entry(listing, factors=factors)


def _agreed(prices: Mapping[str, float], base: Mapping[str, float]) -> dict[str, float]:
    """Return the ratio of *prices* to *base* for each family. Prices of 0 are mistakes."""
    ratios: dict[str, list[float]] = defaultdict(list)
    for name, price in prices.items():
        if price > 0 and name in base:
            ratios[name.partition(".")[0]].append(price / base[name])
    return {family: round(_agreed_by_most(sorted(found)), 6) for family, found in sorted(ratios.items())}


def _agreed_by_most(ratios: list[float]) -> float:
    """Return the lowest ratio that a fair share of the others is close to, or else the one that most are close to.

    Higher ratios are those of dedicated machines, which such sources mix up with shared ones.
    """
    support = {ratio: sum(abs(other - ratio) <= _ROUGHLY * ratio for other in ratios) for ratio in ratios}
    fair = [ratio for ratio, count in support.items() if count >= max(2, _FAIR_SHARE * len(ratios))]
    return min(fair) if fair else max(ratios, key=lambda ratio: support[ratio])


def _by_family(prices: Mapping[str, float]) -> dict[str, dict[str, float]]:
    families: dict[str, dict[str, float]] = defaultdict(dict)
    for name, price in sorted(prices.items()):
        family, _, size = name.partition(".")
        families[family][size] = price
    return dict(families)


def _joined(prices: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    return {f"{family}.{size}": price for family, sizes in prices.items() for size, price in sizes.items()}


def _entry(listing: Listing, **fields: Any) -> dict[str, Any]:
    return {"date": listing.date, "source": listing.source} | {name: value for name, value in fields.items() if value}


def _text(table: Mapping[str, Any]) -> str:
    """Return the table as JSON with a line for each region, to keep diffs readable."""
    lines = (f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in table["regions"].items())
    return f'{{"base": {json.dumps(table["base"])}, "regions": {{\n' + ",\n".join(lines) + "\n}}\n"


if __name__ == "__main__":
    main()
