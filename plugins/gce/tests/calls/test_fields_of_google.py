"""Google refuses a list whose ``fields`` name one that it does not have: all must be those of its API."""

import re
from collections.abc import Iterator

import pytest
from google.cloud import compute_v1
from google.protobuf.descriptor import Descriptor
from nodewright_gce.calls.fields import fields_of
from nodewright_gce.resources.instance_template import InstanceTemplate
from nodewright_gce.resources.machine_type import MachineType
from nodewright_gce.resources.managed_instance import ManagedInstance, MigError
from nodewright_gce.resources.mig import Mig
from nodewright_gce.resources.operation import Operation
from nodewright_gce.resources.region import Region
from nodewright_gce.resources.reservation import Reservation
from nodewright_gce.resources.resize_request import ResizeRequest


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (InstanceTemplate, compute_v1.InstanceTemplate),
        (MachineType, compute_v1.MachineType),
        (ManagedInstance, compute_v1.ManagedInstance),
        (Mig, compute_v1.InstanceGroupManager),
        (MigError, compute_v1.InstanceManagedByIgmError),
        (Operation, compute_v1.Operation),
        (Region, compute_v1.Region),
        (Reservation, compute_v1.Reservation),
        (ResizeRequest, compute_v1.InstanceGroupManagerResizeRequest),
    ],
)
def test_every_field_that_is_asked_for_is_one_of_google(ours, theirs) -> None:
    asked = re.findall(r"[A-Za-z]+|[(),]", fields_of(ours))

    assert list(_unknown(iter(asked), theirs.pb().DESCRIPTOR)) == []


def _unknown(asked: Iterator[str], message: Descriptor) -> Iterator[str]:
    """Yield the fields of *asked*, up to the bracket that closes it, that *message* does not have."""
    known = {_camel(field.name): field for field in message.fields}
    last = ""
    for word in asked:
        if word == ")":
            return
        if word == "(":
            field = known.get(last)
            inner = field.message_type if field is not None else message
            yield from (f"{last}.{name}" for name in _unknown(asked, inner))
        elif word != ",":
            last = word
            if word not in known:
                yield word


def _camel(name: str) -> str:
    """The name in JSON of a field; the client library appends an underscore to words of Python."""
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(part.capitalize() for part in rest)
