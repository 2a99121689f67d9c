"""The provider plugin ``fake``: node groups of the fake cloud, over its HTTP API."""

from nodewright_fake.provider.provider import FakeProvider

__all__ = ["FakeProvider"]
