"""Images that machines boot."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from nodewright.api import Clock, NodewrightError

from nodewright_aws.calls import Calls
from nodewright_aws.shapes.settings import AmiFamily
from nodewright_aws.templates.launch import parse_volumes
from nodewright_aws.templates.memo import Memo
from nodewright_aws.troubles import Troubles

_LIFETIME = timedelta(hours=24)
#: An image that is not there may be shared with the account some time later.
_LIFETIME_IF_ABSENT = timedelta(minutes=20)
#: As many values as a filter takes.
_IDS_PER_CALL = 200
#: Beginnings of the names that AWS gives its images.
_FAMILIES = {
    "amazon-eks-node-al2023": AmiFamily.AL2023,
    "amazon-eks-node-": AmiFamily.AL2,
    "amazon-eks-gpu-node-": AmiFamily.AL2,
    "amazon-eks-arm64-node-": AmiFamily.AL2,
    "bottlerocket-": AmiFamily.BOTTLEROCKET,
}


@dataclass(frozen=True, kw_only=True)
class Image:
    """An image."""

    #: As boto3 has it: ``x86_64``, ``arm64``.
    architecture: str = ""
    #: ``hvm`` or ``paravirtual``.
    virtualization: str = ""
    name: str = ""
    windows: bool = False
    root_device: str = ""
    #: GiB by the name of the device.
    volumes: Mapping[str, int] = field(default_factory=dict)

    @property
    def family(self) -> AmiFamily | None:
        """Whose image it is, if its name tells."""
        return next((family for prefix, family in _FAMILIES.items() if self.name.startswith(prefix)), None)


class Images:
    """Images by id. They make templates better, and nothing fails without them."""

    def __init__(self, aws: Calls, clock: Clock) -> None:
        self._aws = aws
        self._memo: Memo[str, Image | None] = Memo(clock, _LIFETIME)
        self._troubles = Troubles()

    def refresh(self, ids: Iterable[str]) -> None:
        """Read those that are not known. Raises nothing: what can't be read is warned of."""
        due = self._memo.due(image for image in ids if image.startswith("ami-"))
        for start in range(0, len(due), _IDS_PER_CALL):
            self._read(due[start : start + _IDS_PER_CALL])

    def get(self, image: str) -> Image | None:
        """Return an image, None if nothing is known of it."""
        try:
            return self._memo.get(image)
        except NodewrightError:
            return None

    def _read(self, ids: list[str]) -> None:
        try:
            # Unlike ImageIds, a filter does not mind those that are gone.
            answer = self._aws.call(
                "ec2",
                "describe_images",
                Filters=[{"Name": "image-id", "Values": ids}],
                IncludeDeprecated=True,
            )
        except NodewrightError as error:
            for image in ids:
                self._memo.fail(image, error)
            without = "templates go without the disk sizes and architectures that only images tell"
            self._troubles.tell({type(error).__name__: f"{without}, as these can't be read: {error}"})
            return
        self._troubles.tell({})
        found = {body["ImageId"]: _image(body) for body in answer.get("Images", ())}
        for image in ids:
            if image in found:
                self._memo.keep(image, found[image])
            else:
                self._memo.keep(image, None, lifetime=_LIFETIME_IF_ABSENT)


def _image(body: Mapping[str, Any]) -> Image:
    return Image(
        architecture=body.get("Architecture", ""),
        virtualization=body.get("VirtualizationType", ""),
        name=body.get("Name", ""),
        windows=str(body.get("Platform", "")).lower() == "windows",
        root_device=body.get("RootDeviceName", ""),
        volumes=parse_volumes(body.get("BlockDeviceMappings", ())),
    )
