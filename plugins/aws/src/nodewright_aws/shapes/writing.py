"""Writes the table of instance types that comes along."""

from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nodewright_aws.shapes.shape import Shape, parse_shape
from nodewright_aws.shapes.table import FILE, write


def ask(client: Any) -> Iterator[Shape]:
    """Return all types that *client*, boto3's for EC2, knows; those of Kubernetes' architectures, at least."""
    for page in client.get_paginator("describe_instance_types").paginate():
        for body in page["InstanceTypes"]:
            shape = parse_shape(body)
            if shape.arch in ("amd64", "arm64"):
                yield shape


def main(arguments: list[str] | None = None) -> None:
    """Ask AWS, or who else the command line names, for all types and write the table anew."""
    parser = ArgumentParser(prog="python -m nodewright_aws.shapes.table", description=main.__doc__)
    parser.add_argument("--region", default="us-east-1")
    parser.add_argument("--endpoint", default=None, help="a URL to ask instead of AWS")
    parser.add_argument("--source", default="", help="who that is, for the first line of the table")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name(FILE))
    chosen = parser.parse_args(arguments)

    import boto3

    shapes = list(ask(boto3.client("ec2", region_name=chosen.region, endpoint_url=chosen.endpoint)))
    source = chosen.source or ("another endpoint" if chosen.endpoint else "AWS")
    origin = f"{len(shapes)} types of {chosen.region}, DescribeInstanceTypes of {source}, {datetime.now(UTC):%Y-%m-%d}"
    chosen.output.write_text(write(shapes, origin), encoding="utf-8")
