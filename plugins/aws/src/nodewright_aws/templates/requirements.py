"""Instance types that meet requirements, in place of a list of names."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from nodewright.api import Clock, NodewrightError, PermanentError

from nodewright_aws.calls import Calls
from nodewright_aws.templates.images import Image
from nodewright_aws.templates.memo import Memo, concerns_others

_LIFETIME = timedelta(minutes=20)


@dataclass(frozen=True)
class Requirements:
    """What instance types must have, and what the image that they boot asks of them."""

    #: ``InstanceRequirements`` of boto3 in JSON, sorted.
    text: str
    #: Any, if empty.
    architecture: str = ""
    virtualization: str = ""

    @classmethod
    def of(cls, requirements: Mapping[str, Any], *, arch: str, image: Image | None) -> "Requirements":
        """Return *requirements* of machines of an architecture (as AWS names it) that boot *image*."""
        return cls(
            json.dumps(requirements, sort_keys=True),
            (image.architecture if image else "") or arch,
            (image.virtualization if image else "") or "hvm",
        )


class InstanceTypes:
    """Names of instance types by requirements, as EC2 matches them."""

    def __init__(self, aws: Calls, clock: Clock) -> None:
        self._aws = aws
        self._memo: Memo[Requirements, tuple[str, ...]] = Memo(clock, _LIFETIME)

    def refresh(self, requirements: Iterable[Requirements]) -> None:
        """Ask for what is not known, or was asked for some time ago. Raises nothing: `get` does."""
        due = self._memo.due(requirements)
        for position, each in enumerate(due):
            try:
                self._read(each)
            except NodewrightError as error:
                self._memo.fail(each, error)
                if concerns_others(error):
                    for other in due[position + 1 :]:
                        self._memo.fail(other, error)
                    return

    def get(self, requirements: Requirements) -> tuple[str, ...]:
        """Return the names of all types that meet *requirements*, at least one; raises `NodewrightError`."""
        return self._memo.get(requirements)

    def _read(self, requirements: Requirements) -> None:
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
        self._memo.keep(requirements, names)
