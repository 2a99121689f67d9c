"""Instance types from AWS, and from the table when AWS gives no answer."""

from collections.abc import Iterator
from typing import Any

import pytest
from nodewright.api import AccessDeniedError, NodewrightError
from nodewright.testing import SteppedClock
from nodewright_aws.instance_types.catalogue import Catalogue

MINUTE = 60
DAY = 24 * 60 * MINUTE


class Recorded:
    """Answers with types that have as many vCPUs as AWS was asked before."""

    region = "eu-west-1"

    def __init__(self, *names: str) -> None:
        self.names = set(names)
        self.asked: list[list[str]] = []
        self.error: NodewrightError | None = None

    def call(self, service: str, operation: str, **arguments: Any) -> dict[str, Any]:
        raise AssertionError("the answer has pages")

    def pages(self, service: str, operation: str, **arguments: Any) -> Iterator[dict[str, Any]]:
        assert (service, operation) == ("ec2", "describe_instance_types")
        (names,) = (choice["Values"] for choice in arguments["Filters"])
        self.asked.append(names)
        if self.error:
            raise self.error
        for name in sorted(self.names & set(names)):
            yield {
                "InstanceTypes": [
                    {
                        "InstanceType": name,
                        "VCpuInfo": {"DefaultVCpus": len(self.asked)},
                        "MemoryInfo": {"SizeInMiB": 4096},
                    }
                ]
            }


@pytest.fixture
def clock() -> SteppedClock:
    return SteppedClock()


def test_a_type_is_asked_for_once_a_day(clock) -> None:
    aws = Recorded("x9.large")
    catalogue = Catalogue(aws, clock, static=False)
    for _ in range(3):
        catalogue.refresh(["x9.large"])
    assert aws.asked == [["x9.large"]]
    assert catalogue.get("x9.large").vcpus == 1
    clock.advance(DAY)
    catalogue.refresh(["x9.large"])
    assert catalogue.get("x9.large").vcpus == 2


def test_a_hundred_types_are_asked_for_at_once(clock) -> None:
    names = [f"x{number}.large" for number in range(250)]
    aws = Recorded(*names)
    Catalogue(aws, clock, static=False).refresh(names)
    assert [len(names) for names in aws.asked] == [100, 100, 50]


def test_only_what_is_new_is_asked_for(clock) -> None:
    aws = Recorded("x1.large", "x2.large")
    catalogue = Catalogue(aws, clock, static=False)
    catalogue.refresh(["x1.large"])
    catalogue.refresh(["x1.large", "x2.large"])
    assert aws.asked == [["x1.large"], ["x2.large"]]


def test_what_aws_knows_wins_over_the_table(clock) -> None:
    catalogue = Catalogue(Recorded("m5.large"), clock, static=False)
    assert catalogue.get("m5.large").vcpus == 2
    catalogue.refresh(["m5.large"])
    assert catalogue.get("m5.large").vcpus == 1


def test_a_type_that_aws_does_not_know_spoils_nothing_and_is_not_asked_for_all_the_time(clock) -> None:
    aws = Recorded("x9.large")
    catalogue = Catalogue(aws, clock, static=False)
    for _ in range(2):
        catalogue.refresh(["x9.large", "no.such", "m5.large"])
    assert len(aws.asked) == 1
    assert catalogue.get("x9.large").vcpus == 1
    assert catalogue.get("m5.large").vcpus == 2, "from the table"
    assert catalogue.get("no.such") is None
    aws.names.add("no.such")
    clock.advance(60 * MINUTE)
    catalogue.refresh(["x9.large", "no.such", "m5.large"])
    assert catalogue.get("no.such") is not None


def test_patterns_and_nonsense_are_not_asked_for(clock) -> None:
    aws = Recorded()
    Catalogue(aws, clock, static=False).refresh(["m5.*", "", "*", "m5"])
    assert aws.asked == []


def test_the_table_serves_while_aws_gives_no_answer_and_aws_is_left_alone_for_some_minutes(clock, caplog) -> None:
    aws = Recorded("m5.large")
    aws.error = AccessDeniedError("not authorized to perform ec2:DescribeInstanceTypes")
    catalogue = Catalogue(aws, clock, static=False)
    for _ in range(3):
        catalogue.refresh(["m5.large", "no.such"])
    assert len(aws.asked) == 1
    assert catalogue.trouble is aws.error
    assert catalogue.get("m5.large").vcpus == 2
    assert catalogue.get("no.such") is None
    (record,) = caplog.records
    assert "AWS does not describe instance types, so the bundled table is used" in record.getMessage()
    assert "not authorized to perform ec2:DescribeInstanceTypes" in record.getMessage()
    aws.error = None
    clock.advance(5 * MINUTE)
    catalogue.refresh(["m5.large", "no.such"])
    assert catalogue.trouble is None
    assert catalogue.get("m5.large").vcpus == 2, "the second time that AWS was asked"
    assert len(aws.asked) == 2


def test_silence_of_aws_is_told_when_it_begins_and_when_it_is_over(clock, caplog) -> None:
    caplog.set_level("INFO")
    aws = Recorded("m5.large")
    catalogue = Catalogue(aws, clock, static=False)
    aws.error = AccessDeniedError("no")
    for _ in range(3):
        catalogue.refresh(["m5.large"])
        clock.advance(5 * MINUTE)
    assert len(aws.asked) == 3
    aws.error = None
    catalogue.refresh(["m5.large"])
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    assert caplog.records[1].getMessage() == "AWS describes instance types again"


def test_what_aws_said_before_is_kept_while_it_gives_no_answer(clock) -> None:
    aws = Recorded("x9.large")
    catalogue = Catalogue(aws, clock, static=False)
    catalogue.refresh(["x9.large"])
    aws.error = AccessDeniedError("no")
    clock.advance(2 * DAY)
    catalogue.refresh(["x9.large"])
    assert catalogue.get("x9.large").vcpus == 1


def test_a_static_catalogue_never_asks(clock) -> None:
    aws = Recorded("x9.large")
    catalogue = Catalogue(aws, clock, static=True)
    catalogue.refresh(["x9.large", "m5.large"])
    assert aws.asked == []
    assert catalogue.get("m5.large").memory_mib == 8192
    assert catalogue.get("x9.large") is None


def test_types_that_no_group_uses_any_more_are_forgotten(clock) -> None:
    aws = Recorded("x1.large", "x2.large")
    catalogue = Catalogue(aws, clock, static=False)
    catalogue.refresh(["x1.large"])
    catalogue.refresh(["x2.large"])
    assert catalogue.get("x1.large") is None
