"""Label and field selectors: which objects a list or a watch shows."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from nodewright_fake.apiserver.document import Object, dig
from nodewright_fake.apiserver.status import bad_request

Predicate = Callable[[Object], bool]

_KEY = r"[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?"
_SET = re.compile(rf"({_KEY})\s+(in|notin)\s*\(([^()]*)\)")
_COMPARISON = re.compile(rf"({_KEY})\s*(==|=|!=|>|<)\s*([-A-Za-z0-9_.]*)")
_EXISTENCE = re.compile(rf"(!?)\s*({_KEY})")
_FIELD = re.compile(r"([A-Za-z][\w./\[\]-]*)(==|!=|=)((?:[^,\\]|\\.)*)")

#: Fields that selectors call by another name than where they are.
_ALIASES = {"events": {"source": "source.component"}}
#: What an absent field counts as, if not as the empty text.
_ABSENT = {"spec.unschedulable": "false", "spec.hostNetwork": "false"}


def label_predicate(text: str) -> Predicate | None:
    """Return the test that a label selector stands for; None for an empty one. Raises `StatusError` 400."""
    requirements = [_requirement(part) for part in _split(text)]
    if not requirements:
        return None

    def matches(candidate: Object) -> bool:
        labels = candidate["metadata"].get("labels") or {}
        return all(requirement(labels) for requirement in requirements)

    return matches


def field_predicate(resource: str, text: str) -> Predicate | None:
    """Return the test that a field selector stands for; None for an empty one. Raises `StatusError` 400.

    Any dotted path to a plain value can be asked for, not only the few fields that Kubernetes knows by heart.
    """
    terms = [_field_term(resource, part) for part in re.split(r"(?<!\\),", text) if part.strip()]
    if len(terms) <= 1:
        return terms[0] if terms else None
    return lambda candidate: all(term(candidate) for term in terms)


def exact_name(text: str) -> str | None:
    """Return the name if a field selector asks for nothing but one object by its name."""
    match = re.fullmatch(r"metadata\.name==?([^,\\]+)", text)
    return match[1] if match else None


def selects(selector: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """Return whether a ``LabelSelector`` object matches *labels*: none matches nothing, an empty one everything."""
    if selector is None:
        return False
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    return all(
        _holds(line["operator"], labels.get(line["key"]), line.get("values") or ())
        for line in selector.get("matchExpressions") or ()
    )


def selector_text(selector: Any) -> str:
    """Return a selector as text: from a ``LabelSelector`` object, a plain map of labels, or text already."""
    if not isinstance(selector, dict):
        return selector or ""
    structured = selector.keys() <= {"matchLabels", "matchExpressions"}
    labels = (selector.get("matchLabels") or {}) if structured else selector
    parts = [f"{key}={value}" for key, value in sorted(labels.items())]
    for line in (selector.get("matchExpressions") or ()) if structured else ():
        key, operator, values = line["key"], line["operator"], ",".join(sorted(line.get("values") or ()))
        forms = {"In": f"{key} in ({values})", "NotIn": f"{key} notin ({values})", "Exists": key}
        parts.append(forms.get(operator, f"!{key}"))
    return ",".join(parts)


def _split(text: str) -> list[str]:
    """Split at the commas outside of parentheses."""
    return [part.strip() for part in re.split(r",(?![^()]*\))", text) if part.strip()]


def _requirement(part: str) -> Callable[[Mapping[str, str]], bool]:
    if match := _SET.fullmatch(part):
        key, operator = match[1], "In" if match[2] == "in" else "NotIn"
        values = [value.strip() for value in match[3].split(",")]
    elif match := _COMPARISON.fullmatch(part):
        key, operator = match[1], {"=": "In", "==": "In", "!=": "NotIn", ">": "Gt", "<": "Lt"}[match[2]]
        values = [match[3]]
        if operator in ("Gt", "Lt") and not match[3].lstrip("-").isdecimal():
            raise bad_request(
                f"unable to parse requirement: values[0][{key}]: Invalid value: \"{match[3]}\": for 'Gt', "
                "'Lt' operators, the value must be an integer"
            )
    elif match := _EXISTENCE.fullmatch(part):
        key, operator, values = match[2], "DoesNotExist" if match[1] else "Exists", []
    else:
        raise bad_request(
            f'unable to parse requirement: "{part}" is none of key=value, key!=value, key in (a,b), '
            "key notin (a,b), key, !key, key>1, key<1"
        )
    return lambda labels: _holds(operator, labels.get(key), values)


def _holds(operator: str, value: str | None, values: Any) -> bool:
    match operator:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
    if value is None or not value.lstrip("-").isdecimal():
        return False
    return int(value) > int(values[0]) if operator == "Gt" else int(value) < int(values[0])


def _field_term(resource: str, part: str) -> Predicate:
    match = _FIELD.fullmatch(part.strip())
    if match is None:
        raise bad_request(f"invalid selector: '{part}'; can't understand '{part}': write field=value or field!=value")
    path = _ALIASES.get(resource, {}).get(match[1], match[1])
    absent = _ABSENT.get(path, "")
    wanted, equal = re.sub(r"\\(.)", r"\1", match[3]), match[2] != "!="

    def matches(candidate: Object) -> bool:
        value = dig(candidate, path)
        if isinstance(value, bool):
            value = str(value).lower()
        return (wanted == (absent if value is None else str(value))) is equal

    return matches
