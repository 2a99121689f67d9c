"""Reservations: capacity that is paid for, used or not."""

from nodewright_gce.resources.resource import Resource


class ReservedProperties(Resource):
    """What is reserved."""

    machine_type: str = ""


class SpecificReservation(Resource):
    """How many machines are reserved, and how many of these are in use."""

    count: int | str = 0
    in_use_count: int | str = 0
    instance_properties: ReservedProperties = ReservedProperties()


class Reservation(Resource):
    """A reservation in a zone."""

    name: str
    zone: str = ""
    status: str = ""
    specific_reservation_required: bool = False
    specific_reservation: SpecificReservation = SpecificReservation()
