"""Images that machines boot, and the parameters through which launch templates may name them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from nodewright.api import Clock, NodewrightError, PermanentError

from nodewright_aws.calls import Calls
from nodewright_aws.config import AmiFamily
from nodewright_aws.templates.cache import Cache
from nodewright_aws.templates.launch_data import parse_volumes
from nodewright_aws.warn_once import WarnOnce

_LIFETIME = timedelta(hours=24)
#: An image that is missing may be shared with the account later.
_LIFETIME_IF_MISSING = timedelta(minutes=20)
#: As many values as a filter takes.
_IDS_PER_CALL = 200
#: Prefixes of the names of AWS' own images.
_FAMILIES = {
    "amazon-eks-node-al2023": AmiFamily.AL2023,
    "amazon-eks-node-": AmiFamily.AL2,
    "amazon-eks-gpu-node-": AmiFamily.AL2,
    "amazon-eks-arm64-node-": AmiFamily.AL2,
    "bottlerocket-": AmiFamily.BOTTLEROCKET,
}

#: Precedes the name of a parameter, which may end in a colon and a version or label.
_PARAMETER = "resolve:ssm:"
_PARAMETER_LIFETIME = timedelta(minutes=20)
_PARAMETERS_PER_CALL = 10


@dataclass(frozen=True, kw_only=True)
class Image:
    """An image."""

    #: As in boto3: ``x86_64``, ``arm64``.
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
        """The family of the image, if its name shows it."""
        return next((family for prefix, family in _FAMILIES.items() if self.name.startswith(prefix)), None)


class Images:
    """Images by id. They make templates more precise; nothing fails without them."""

    def __init__(self, aws: Calls, clock: Clock) -> None:
        self._aws = aws
        self._cache: Cache[str, Image | None] = Cache(clock, _LIFETIME)
        self._warnings = WarnOnce()

    def refresh(self, ids: Iterable[str]) -> None:
        """Read those that are unknown. Raises nothing, but warns of failures."""
        due = self._cache.due(image for image in ids if image.startswith("ami-"))
        for start in range(0, len(due), _IDS_PER_CALL):
            self._read(due[start : start + _IDS_PER_CALL])

    def get(self, image: str) -> Image | None:
        """Return an image; None if it is unknown."""
        try:
            return self._cache.get(image)
        except NodewrightError:
            return None

    def _read(self, ids: list[str]) -> None:
        try:
            # Unlike ImageIds, a filter skips images that no longer exist.
            answer = self._aws.call(
                "ec2",
                "describe_images",
                Filters=[{"Name": "image-id", "Values": ids}],
                IncludeDeprecated=True,
            )
        except NodewrightError as error:
            for image in ids:
                self._cache.fail(image, error)
            sentence = f"images can't be read, so templates lack the disk sizes and architectures of images: {error}"
            self._warnings.warn({type(error).__name__: sentence})
            return
        self._warnings.warn({})
        found = {body["ImageId"]: _image(body) for body in answer.get("Images", ())}
        for image in ids:
            if image in found:
                self._cache.keep(image, found[image])
            else:
                self._cache.keep(image, None, lifetime=_LIFETIME_IF_MISSING)


class ImageParameters:
    """Ids of images by parameters of Systems Manager. They make templates more precise; nothing fails without them."""

    def __init__(self, aws: Calls, clock: Clock) -> None:
        self._aws = aws
        self._cache: Cache[str, str] = Cache(clock, _PARAMETER_LIFETIME)
        self._warnings = WarnOnce()

    def refresh(self, images: Iterable[str]) -> None:
        """Look up those of *images* that are parameters. Raises nothing, but warns of failures."""
        wanted = [image.removeprefix(_PARAMETER) for image in images if image.startswith(_PARAMETER)]
        due = self._cache.due(wanted)
        for start in range(0, len(due), _PARAMETERS_PER_CALL):
            self._read(due[start : start + _PARAMETERS_PER_CALL])
        self._warnings.warn(
            {
                name: f"the image {_PARAMETER}{name} of a launch template can't be looked up, so templates lack what "
                f"the image would show: {trouble}"
                for name in dict.fromkeys(wanted)
                if (trouble := self._cache.trouble(name)) is not None
            }
        )

    def resolve(self, image: str) -> str:
        """Return the id that *image* stands for; *image* itself if it is an id, or could not be looked up."""
        if not image.startswith(_PARAMETER):
            return image
        try:
            return self._cache.get(image.removeprefix(_PARAMETER))
        except NodewrightError:
            return image

    def _read(self, names: list[str]) -> None:
        try:
            answer = self._aws.call("ssm", "get_parameters", Names=names)
        except NodewrightError as error:
            for name in names:
                self._cache.fail(name, error, needed=False)
            return
        found = {
            name: body["Value"]
            for body in answer.get("Parameters", ())
            for name in (body["Name"] + body.get("Selector", ""), body.get("ARN", "") + body.get("Selector", ""))
        }
        for name in names:
            if name in found:
                self._cache.keep(name, found[name])
            else:
                self._cache.fail(name, PermanentError("there is no such parameter"), needed=False)


def _image(body: Mapping[str, Any]) -> Image:
    return Image(
        architecture=body.get("Architecture", ""),
        virtualization=body.get("VirtualizationType", ""),
        name=body.get("Name", ""),
        windows=str(body.get("Platform", "")).lower() == "windows",
        root_device=body.get("RootDeviceName", ""),
        volumes=parse_volumes(body.get("BlockDeviceMappings", ())),
    )
