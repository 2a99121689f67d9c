"""What people have to know about a migration."""

from dataclasses import dataclass
from enum import StrEnum


class Matter(StrEnum):
    """What a note asks for."""

    #: Something is not carried over: a person has to act.
    HAND = "by hand"
    #: It is carried over, and works under a condition that only people can check.
    CHECK = "check"
    #: It is not as before, on purpose.
    DIFFERS = "differs"


@dataclass(frozen=True, kw_only=True)
class Note:
    """One remark about one part of the set-up."""

    matter: Matter
    #: A value of the chart, a flag, or the field of an object.
    place: str
    text: str


def hand(place: str, text: str) -> Note:
    """Return a note that asks people to act."""
    return Note(matter=Matter.HAND, place=place, text=text)


def check(place: str, text: str) -> Note:
    """Return a note that asks people to make sure of something."""
    return Note(matter=Matter.CHECK, place=place, text=text)


def differs(place: str, text: str) -> Note:
    """Return a note about an intended difference."""
    return Note(matter=Matter.DIFFERS, place=place, text=text)
