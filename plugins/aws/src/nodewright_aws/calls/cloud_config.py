"""The file of Cluster Autoscaler's ``--cloud-config``: endpoints of AWS' services."""

import logging
from dataclasses import dataclass
from pathlib import Path

from nodewright.api import ConfigurationError, Problem

_log = logging.getLogger(__name__)

#: Cluster Autoscaler refuses an override without these.
_NEEDED = ("Service", "Region", "URL", "SigningRegion")


@dataclass(frozen=True, kw_only=True)
class Override:
    """The endpoint of a service for clients in *region*."""

    service: str
    region: str
    url: str
    signing_region: str


def read_cloud_config(path: str) -> tuple[Override, ...]:
    """Return the overrides in a file; warn of what has no effect. Raises `ConfigurationError` with all mistakes."""
    # Few users have such a file, but every process with this plugin imports this module.
    from configparser import ConfigParser
    from configparser import Error as ParserError

    parser = ConfigParser(
        interpolation=None, strict=False, comment_prefixes=("#", ";"), inline_comment_prefixes=("#", ";")
    )
    try:
        parser.read_string(Path(path).read_text(encoding="utf-8"), source=path)
    except (OSError, UnicodeDecodeError, ParserError) as error:
        raise ConfigurationError(Problem(source=path, path="cloudConfig", message=f"can't be read: {error}")) from error
    problems: list[Problem] = []
    overrides: dict[tuple[str, str], Override] = {}
    for section in parser.sections():
        kind = section.partition(" ")[0].lower()
        # Names are case-insensitive in this format.
        values = {name: value.strip().strip('"').strip() for name, value in parser.items(section)}
        if kind != "serviceoverride":
            _warn_of_others(path, section, kind, values)
            continue
        missing = [name for name in _NEEDED if not values.get(name.lower())]
        override = Override(
            service=values.get("service", ""),
            region=values.get("region", ""),
            url=values.get("url", ""),
            signing_region=values.get("signingregion", ""),
        )
        where = (override.service, override.region)
        if missing:
            problems.append(_problem(path, section, f"{' and '.join(missing)} must be set"))
        elif not override.url.startswith(("http://", "https://")):
            problems.append(_problem(path, section, f"{override.url!r} is no URL: begin with https://"))
        elif where in overrides:
            problems.append(_problem(path, section, f"{override.service} in {override.region} is set twice"))
        overrides[where] = override
        _warn_of_signing(path, section, values)
    if problems:
        raise ConfigurationError(*problems)
    return tuple(overrides.values())


def _problem(path: str, section: str, message: str) -> Problem:
    return Problem(source=path, path=f"[{section}]", message=message)


def _warn_of_others(path: str, section: str, kind: str, values: dict[str, str]) -> None:
    if kind != "global":
        _log.warning("%s: [%s] is not known and has no effect", path, section)
    elif values.get("rolearn"):
        _log.warning(
            "%s: RoleARN has no effect, as in Cluster Autoscaler; to use the role, set assumeRole of provider aws", path
        )


def _warn_of_signing(path: str, section: str, values: dict[str, str]) -> None:
    service = values.get("service", "")
    if values.get("signingname", service) not in ("", service):
        _log.warning("%s: [%s]: SigningName has no effect: the SDK signs for %s", path, section, service)
    if values.get("signingmethod", "v4") not in ("", "v4"):
        _log.warning("%s: [%s]: SigningMethod has no effect: the SDK signs with v4", path, section)
