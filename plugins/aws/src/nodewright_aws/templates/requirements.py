"""Attribute-based instance type selection: instance types by requirements in place of names."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from nodewright.api import Clock, NodewrightError, PermanentError

from nodewright_aws.calls import Calls
from nodewright_aws.templates.cache import Cache, concerns_others
from nodewright_aws.templates.images import Image

_LIFETIME = timedelta(minutes=20)


@dataclass(frozen=True)
class InstanceRequirements:
    """What instance types must have: the group's requirements, and those of its image."""

    #: ``InstanceRequirements`` of boto3 as sorted JSON.
    text: str
    #: Any, if empty.
    architecture: str = ""
    virtualization: str = ""

    @classmethod
    def of(cls, requirements: Mapping[str, Any], *, arch: str, image: Image | None) -> "InstanceRequirements":
        """Return *requirements* of instances that boot *image*; *arch* is AWS' name of an architecture."""
        return cls(
            json.dumps(requirements, sort_keys=True),
            (image.architecture if image else "") or arch,
            (image.virtualization if image else "") or "hvm",
        )


class MatchingTypes:
    """Names of the instance types that EC2 matches with requirements."""

    def __init__(self, aws: Calls, clock: Clock) -> None:
        self._aws = aws
        self._cache: Cache[InstanceRequirements, tuple[str, ...]] = Cache(clock, _LIFETIME)

    def refresh(self, requirements: Iterable[InstanceRequirements]) -> None:
        """Read those that are unknown or too old. Raises nothing: `get` does."""
        due = self._cache.due(requirements)
        for position, each in enumerate(due):
            try:
                self._read(each)
            except NodewrightError as error:
                self._cache.fail(each, error)
                if concerns_others(error):
                    for other in due[position + 1 :]:
                        self._cache.fail(other, error)
                    return

    def get(self, requirements: InstanceRequirements) -> tuple[str, ...]:
        """Return the names of all types that meet *requirements*, at least one; raises `NodewrightError`."""
        return self._cache.get(requirements)

    def _read(self, requirements: InstanceRequirements) -> None:
        architectures = [requirements.architecture] if requirements.architecture else ["x86_64", "arm64"]
        names = tuple(
            body["InstanceType"]
            for page in self._aws.pages(
                "ec2",
                "get_instance_types_from_instance_requirements",
                ArchitectureTypes=architectures,
                VirtualizationTypes=[requirements.virtualization],
                InstanceRequirements=json.loads(requirements.text),
            )
            for body in page.get("InstanceTypes", ())
        )
        if not names:
            raise PermanentError(
                f"no instance type of {' or '.join(architectures)} meets the requirements {requirements.text}"
            )
        self._cache.keep(requirements, names)
