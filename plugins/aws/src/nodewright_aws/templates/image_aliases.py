"""Images that launch templates do not name, but have looked up when a machine is launched."""

from collections.abc import Iterable
from datetime import timedelta

from nodewright.api import Clock, NodewrightError, PermanentError

from nodewright_aws.calls import Calls
from nodewright_aws.templates.memo import Memo
from nodewright_aws.troubles import Troubles

#: Before the name of a parameter, which may have a version or label behind a colon.
_PREFIX = "resolve:ssm:"
_LIFETIME = timedelta(minutes=20)
_NAMES_PER_CALL = 10


class ImageAliases:
    """Ids of images by parameters of the Systems Manager. They make templates better, and nothing fails without."""

    def __init__(self, aws: Calls, clock: Clock) -> None:
        self._aws = aws
        self._memo: Memo[str, str] = Memo(clock, _LIFETIME)
        self._troubles = Troubles()

    def refresh(self, images: Iterable[str]) -> None:
        """Look up those of *images* that are aliases. Raises nothing: what can't be read is warned of."""
        wanted = [image.removeprefix(_PREFIX) for image in images if image.startswith(_PREFIX)]
        due = self._memo.due(wanted)
        for start in range(0, len(due), _NAMES_PER_CALL):
            self._read(due[start : start + _NAMES_PER_CALL])
        self._troubles.tell(
            {
                name: f"the image {_PREFIX}{name} of a launch template can't be looked up, so that templates go "
                f"without what it tells: {trouble}"
                for name in dict.fromkeys(wanted)
                if (trouble := self._memo.trouble(name)) is not None
            }
        )

    def resolve(self, image: str) -> str:
        """Return the id that *image* stands for; itself if it is none that was looked up."""
        if not image.startswith(_PREFIX):
            return image
        try:
            return self._memo.get(image.removeprefix(_PREFIX))
        except NodewrightError:
            return image

    def _read(self, names: list[str]) -> None:
        try:
            answer = self._aws.call("ssm", "get_parameters", Names=names)
        except NodewrightError as error:
            for name in names:
                self._memo.fail(name, error, needed=False)
            return
        found = {
            name: body["Value"]
            for body in answer.get("Parameters", ())
            for name in (body["Name"] + body.get("Selector", ""), body.get("ARN", "") + body.get("Selector", ""))
        }
        for name in names:
            if name in found:
                self._memo.keep(name, found[name])
            else:
                self._memo.fail(name, PermanentError("there is no such parameter"), needed=False)
