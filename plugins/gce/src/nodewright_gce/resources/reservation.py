"""Reservations: capacity that is paid for, used or not."""

from nodewright_gce.resources.resource import Resource


class ReservedProperties(Resource, frozen=True, kw_only=True):
    """What is reserved."""

    machine_type: str = ""


class SpecificReservation(Resource, frozen=True, kw_only=True):
    """How many machines are reserved, and how many of these are in use."""

    count: int | str = 0
    in_use_count: int | str = 0
    instance_properties: ReservedProperties = ReservedProperties()


class Reservation(Resource, frozen=True, kw_only=True):
    """A reservation in a zone."""

    name: str
    zone: str = ""
    status: str = ""
    specific_reservation_required: bool = False
    specific_reservation: SpecificReservation = SpecificReservation()
