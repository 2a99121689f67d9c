"""The base of all actions on the cloud."""

from abc import abstractmethod
from typing import ClassVar

from nodewright_fake.cloud.cloud import Cloud
from nodewright_fake.settings import Settings


class Action(Settings):
    """One thing to do. Applied on any thread; raises `RefusalError` if it can't be done."""

    summary: ClassVar[str]

    @abstractmethod
    def apply(self, cloud: Cloud) -> None:
        """Do it."""
