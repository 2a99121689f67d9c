"""The story of a scenario: what happens as time goes by."""

from typing import Self

from pydantic import Field, ValidationInfo, model_validator

from nodewright_fake.cloud.actions import CloudAction
from nodewright_fake.duration import Duration
from nodewright_fake.names import Known, suggest
from nodewright_fake.scenario.manifest import Manifest
from nodewright_fake.settings import Settings


class Scale(Settings):
    """A Deployment gets another number of replicas."""

    deployment: str
    namespace: str = "default"
    replicas: int = Field(ge=0)

    @model_validator(mode="after")
    def _is_there(self, info: ValidationInfo) -> Self:
        key = f"{self.namespace}/{self.deployment}"
        if isinstance(info.context, Known) and key not in info.context.deployments:
            raise ValueError(f"there is no deployment {key!r}{suggest(key, info.context.deployments)}")
        return self


class Delete(Settings):
    """An object is deleted."""

    api_version: str = "v1"
    kind: str
    name: str
    namespace: str = ""


class Step(Settings):
    """One moment of the story. Several things of one step are done in the order of the fields."""

    #: Since the world began.
    at: Duration
    #: For people who watch.
    note: str = ""
    apply: tuple[Manifest, ...] = ()
    scale: Scale | None = None
    delete: Delete | None = None
    cloud: CloudAction | None = None

    @model_validator(mode="after")
    def _does_something(self) -> Self:
        if not (self.note or self.apply or self.scale or self.delete or self.cloud):
            raise ValueError("nothing happens in this step: write note, apply, scale, delete or cloud")
        return self
