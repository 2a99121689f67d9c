"""Signals that are noted instead of ending the process in the middle of something."""

import signal

import pytest
from nodewright_fake.interruption import Interruption


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_an_interruption_is_noted_and_handlers_are_put_back(number, status) -> None:
    before = signal.getsignal(number)
    with Interruption() as interruption:
        assert not interruption
        signal.raise_signal(number)
        assert interruption
        assert interruption.status == status
    assert signal.getsignal(number) is before


@pytest.mark.parametrize(("number", "heard"), [(signal.SIGHUP, False), (signal.SIGINT, True)])
def test_a_closed_terminal_is_ignored_under_nohup_and_ctrl_c_is_heard_also_behind_a_shell(number, heard) -> None:
    before = signal.signal(number, signal.SIG_IGN)
    try:
        with Interruption() as interruption:
            signal.raise_signal(number)
            assert bool(interruption) is heard
    finally:
        signal.signal(number, before)
