import re
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import StrEnum
from ipaddress import IPv4Address
from typing import Annotated, Literal, get_args
from uuid import UUID

import pytest
from nodewright.config.validation import validate
from nodewright.config.wording import describe
from pydantic import AnyHttpUrl, BaseModel, Field, field_validator
from pydantic_core.core_schema import ErrorType

JARGON = re.compile(r"\bInput\b|\binput\b|pydantic|Value error|dictionary|instance|Extra|Field|parse|Decimal|None")


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


@pytest.mark.parametrize(
    ("annotation", "value", "words"),
    [
        (bool, "maybe", 'write true or false, not "maybe"'),
        (int, "x", 'write a whole number, not "x"'),
        (int, 1.5, "write a whole number, not 1.5"),
        (float, None, "write a number, not nothing"),
        (Decimal, "x", 'write a number, not "x"'),
        (str, 5, "write text, not 5: put it in quotes"),
        (str, True, "write text, not true: put it in quotes"),
        (list[int], "a", "write a list, such as [a, b]"),
        (tuple[int, ...], 5, "write a list, such as [a, b]"),
        (set[int], {"a": 1}, "write a list, such as [a, b]"),
        (dict[str, int], [], "write its settings below it, as key: value"),
        (date, "soon", 'write a date such as 2030-01-31, not "soon"'),
        (time, "noon", 'write a time such as 08:30, not "noon"'),
        (datetime, "x", 'write a date and time such as 2030-01-31T08:30:00Z, not "x"'),
        (timedelta, "soon", 'write a duration such as 90s or 10m, not "soon"'),
        (UUID, "x", 'write a UUID, not "x"'),
        (AnyHttpUrl, "x", 'write a URL such as https://example.org/path, not "x"'),
        (AnyHttpUrl, "ftp://x", "the URL must begin with 'http' or 'https', not \"ftp://x\""),
        (IPv4Address, "x", "this value is not a valid IPv4 address"),
        (Literal["red", "green"], "gren", 'must be one of red, green, not "gren"; did you mean green?'),
        (Literal["red"], "blue", 'must be red, not "blue"'),
        (Size, "medium", 'must be one of small, large, not "medium"'),
        (Annotated[int, Field(gt=3)], 3, "must be more than 3, not 3"),
        (Annotated[float, Field(lt=0.5)], 1, "must be less than 0.5, not 1"),
        (Annotated[int, Field(multiple_of=5)], 3, "must be a multiple of 5, not 3"),
        (Annotated[str, Field(min_length=1)], "", "must not be empty"),
        (Annotated[str, Field(min_length=2)], "a", "must have at least 2 characters"),
        (Annotated[str, Field(max_length=2)], "abc", "must have at most 2 characters"),
        (Annotated[str, Field(pattern="^a+$")], "b", 'must look like ^a+$, not "b"'),
        (Annotated[list[int], Field(min_length=2)], [1], "needs at least 2 entries"),
        (Annotated[list[int], Field(max_length=1)], [1, 2], "takes at most 1 entries"),
        (int | bool, "x", 'write a whole number, not "x", or write true or false, not "x"'),
    ],
)
def test_what_a_plugin_may_ask_for_is_said_in_plain_words(annotation, value, words) -> None:
    model = type("Config", (BaseModel,), {"__annotations__": {"it": annotation}})
    _, mistakes = validate(model, {"it": value})
    assert [(mistake.path, mistake.message) for mistake in mistakes] == [(("it",), words)]


def test_no_kind_of_mistake_is_told_in_the_words_of_a_library() -> None:
    bounds = ("gt", "ge", "lt", "le", "multiple_of", "min_length", "max_length")
    names = ("pattern", "discriminator", "expected_tags", "expected_schemes")
    context = {**dict.fromkeys(bounds, 3), **dict.fromkeys(names, "x"), "error": ValueError("ours"), "expected": "'a'"}
    for kind in get_args(ErrorType):
        error = {"type": kind, "loc": (), "msg": "Input should be otherwise", "input": "x", "ctx": context}
        words = describe(error)
        assert not JARGON.search(words), kind


def test_the_own_words_of_a_plugin_are_kept() -> None:
    class Config(BaseModel):
        region: str

        @field_validator("region")
        @classmethod
        def _exists(cls, region: str) -> str:
            raise ValueError("the region eu-west-9 does not exist")

    _, mistakes = validate(Config, {"region": "eu-west-9"})
    assert [mistake.message for mistake in mistakes] == ["the region eu-west-9 does not exist"]


def test_a_default_that_is_wrong_is_told_like_a_setting() -> None:
    class Config(BaseModel):
        url: str = Field(default="", min_length=1, validate_default=True)
        size: int | bool = 0

    _, mistakes = validate(Config, {"size": "x"})
    assert [(mistake.path, mistake.message) for mistake in mistakes] == [
        (("url",), "must not be empty"),
        (("size",), 'write a whole number, not "x", or write true or false, not "x"'),
    ]


def test_secrets_are_not_quoted() -> None:
    class Login(BaseModel):
        token: str

    _, (mistake,) = validate(Login, {"token": 4711})
    assert mistake.message == "write text: put it in quotes"
