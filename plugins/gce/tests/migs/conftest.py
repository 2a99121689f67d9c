"""Fixtures for what reads groups."""

import pytest

from .a_compute import World


@pytest.fixture
def world() -> World:
    return World()
