"""Machines that do not come, in the double's words."""

import pytest
from nodewright.api import ErrorClass
from nodewright_gce.testing import Trouble

#: All others are stock-outs.
EXPECTED = {
    Trouble.QUOTA: ErrorClass.QUOTA,
    Trouble.ADDRESSES: ErrorClass.OTHER,
    Trouble.RESERVATION_NOT_READY: ErrorClass.OTHER,
    Trouble.UNKNOWN: ErrorClass.OTHER,
    Trouble.PERMISSION: ErrorClass.PERMISSION,
    Trouble.ORGANIZATION_POLICY: ErrorClass.PERMISSION,
    Trouble.RESERVATION_WRONG_FAMILY: ErrorClass.CONFIGURATION,
    Trouble.RESERVATION_OTHER_PROJECT: ErrorClass.CONFIGURATION,
    Trouble.RESERVATION_AFFINITY: ErrorClass.CONFIGURATION,
    Trouble.RESERVATION_WRONG: ErrorClass.CONFIGURATION,
    Trouble.RESERVATION_MISSING: ErrorClass.CONFIGURATION,
    Trouble.RESERVATION_INCOMPATIBLE: ErrorClass.CONFIGURATION,
    Trouble.NO_AUTOMATIC_RESERVATION: ErrorClass.CONFIGURATION,
    Trouble.TPU: ErrorClass.CONFIGURATION,
    Trouble.IMAGE: ErrorClass.CONFIGURATION,
    Trouble.FIELD: ErrorClass.CONFIGURATION,
    Trouble.USAGE: ErrorClass.CONFIGURATION,
}


@pytest.mark.scenario(18)
@pytest.mark.parametrize("trouble", list(Trouble))
def test_a_shortage_of_the_double_shows_at_the_machine(double, start, trouble) -> None:
    double.make_mig("workers")
    double.run_out(trouble=trouble)
    provider = start()
    provider.groups()[0].increase(1)
    double.settle()
    provider.refresh()
    (instance,) = provider.groups()[0].instances()
    assert instance.error is not None
    assert instance.error.error_class is EXPECTED.get(trouble, ErrorClass.STOCK_OUT)
