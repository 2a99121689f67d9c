"""The contract, as rules name it: which parts of it a sentence is about, and what these say."""

import inspect
import re

from nodewright import api

#: Where names without a class are looked for.
_CLASSES = ("NodeGroup", "Provider", "PricingModel")
_CODE = re.compile(r"`([^`]+)`")
_NAME = re.compile(r"(?:(\w+)\.)?(\w+)")


def parts_named_in(text: str) -> tuple[str, ...]:
    """The methods and properties that *text* has in backticks, such as ``NodeGroup.increase``, each once."""
    names = (each for code in _CODE.findall(text) for each in _NAME.findall(code))
    found = (f"{owner}.{name}" for given, name in names for owner in ([given] if given else _CLASSES))
    return tuple(dict.fromkeys(each for each in found if says(each)))


def says(part: str) -> str:
    """What the docstring of a *part* says; empty if there is no such part."""
    owner, _, name = part.partition(".")
    member = inspect.getattr_static(getattr(api, owner, None), name, None)
    documented = inspect.isfunction(member) or isinstance(member, property)
    return (inspect.getdoc(member) or "") if documented else ""
