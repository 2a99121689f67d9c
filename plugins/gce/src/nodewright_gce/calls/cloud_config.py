"""The file of Cluster Autoscaler's ``--cloud-config``: ``gce.conf``."""

import re
from dataclasses import dataclass
from pathlib import Path

from nodewright.api import ConfigurationError, Problem

#: Written by some installers for a value that is not set.
_UNSET = "nil"


@dataclass(frozen=True, kw_only=True)
class CloudConfig:
    """What Cluster Autoscaler reads of the file. Other keys are for the cloud controller manager."""

    project: str = ""
    #: A zone; with ``--regional``, Cluster Autoscaler takes it for a region.
    local_zone: str = ""
    #: Answers requests with an access token. The body may be a secret.
    token_url: str = ""
    token_body: str = ""

    def __repr__(self) -> str:
        return f"CloudConfig(project={self.project!r}, local_zone={self.local_zone!r}, token_url={self.token_url!r})"


def read_cloud_config(path: str) -> CloudConfig:
    """Return what is in the section ``[global]`` of a file; raises `ConfigurationError`."""
    # Few users have such a file, but every process with this plugin imports this module.
    from configparser import ConfigParser
    from configparser import Error as ParserError

    parser = ConfigParser(
        interpolation=None,
        strict=False,
        allow_no_value=True,
        comment_prefixes=("#", ";"),
        inline_comment_prefixes=("#", ";"),
    )
    try:
        parser.read_string(Path(path).read_text(encoding="utf-8-sig"), source=path)
    except (OSError, UnicodeDecodeError, ParserError) as error:
        # The parser quotes lines, and one may have a secret.
        reason = error.strerror if isinstance(error, OSError) else f"not in the format of gce.conf ({_place(error)})"
        raise ConfigurationError(Problem(source=path, path="cloudConfig", message=f"can't be read: {reason}")) from None
    values: dict[str, str] = {}
    for section in parser.sections():
        if section.lower() == "global":
            values |= {name: _value(value) for name, value in parser.items(section)}
    return CloudConfig(
        project=values.get("project-id", ""),
        local_zone=values.get("local-zone", ""),
        token_url=values.get("token-url", ""),
        token_body=values.get("token-body", ""),
    )


def _value(text: str | None) -> str:
    value = (text or "").strip()
    if quoted := re.fullmatch('"(.*)"', value):
        value = re.sub(r"\\(.)", r"\1", quoted[1]).strip()
    return "" if value == _UNSET else value


def _place(error: Exception) -> str:
    line = getattr(error, "lineno", 0) or next(iter(getattr(error, "errors", ())), (0,))[0]
    return f"line {line}" if line else type(error).__name__
