"""Requests are such as boto3 takes, and all pages of its answers are read."""

import json
from contextlib import contextmanager

import boto3
from botocore.stub import Stubber

from .recorded import a_product, a_spot_price, on_demand, prices_of, spot
from .test_model import price_of


class StubbedAws:
    """A client of boto3 that checks requests against AWS' model and has answers in store."""

    region = "eu-west-1"

    def __init__(self, service):
        keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
        self._client = boto3.client(service, region_name=self.region, **keys)
        self.stubber = Stubber(self._client)

    def call(self, service, operation, **arguments):
        raise AssertionError(f"nobody needs {service}:{operation}")

    def pages(self, service, operation, **arguments):
        yield from self._client.get_paginator(operation).paginate(**arguments)


@contextmanager
def answering(service, operation, *answers):
    aws = StubbedAws(service)
    for answer in answers:
        aws.stubber.add_response(operation, answer)
    with aws.stubber:
        yield aws
        aws.stubber.assert_no_pending_responses()


def test_the_history_of_spot_prices_is_read_to_its_end(clock) -> None:
    pages = (
        {"SpotPriceHistory": [], "NextToken": "more"},
        {"SpotPriceHistory": [a_spot_price("m5.large", "eu-west-1a", 0.04)], "NextToken": ""},
    )
    with answering("ec2", "describe_spot_price_history", *pages) as aws:
        prices = prices_of(aws, clock)
        prices.refresh([spot("m5.large")])
    assert price_of(prices, spot("m5.large")) == 0.04


def test_the_price_list_is_read_to_its_end(clock) -> None:
    pages = (
        {"FormatVersion": "aws_v1", "PriceList": [], "NextToken": "more"},
        {"FormatVersion": "aws_v1", "PriceList": [json.dumps(a_product("m5.large", 0.1))]},
    )
    with answering("pricing", "get_products", *pages) as aws:
        prices = prices_of(aws, clock, onDemand="api")
        prices.refresh([on_demand("m5.large")])
    assert price_of(prices, on_demand("m5.large")) == 0.1
