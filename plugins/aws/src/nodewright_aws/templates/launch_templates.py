"""Versions of launch templates."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Any

from nodewright.api import Clock, NodewrightError, PermanentError

from nodewright_aws.calls import Calls
from nodewright_aws.templates.cache import Cache, concerns_others
from nodewright_aws.templates.launch_data import LaunchTemplateData, parse_version

LATEST, DEFAULT = "$Latest", "$Default"
#: A numbered version never changes.
_LIFETIME = timedelta(hours=12)
#: The latest and the default version may change at any time.
_LIFETIME_OF_ALIAS = timedelta(minutes=5)
#: Up to this many templates are read one by one; for more, those of the whole account are listed.
_FEW = 4
_LARGEST_PAGE = 200


@dataclass(frozen=True)
class TemplateVersion:
    """A version of a launch template, which has either an id or a name here."""

    id: str
    name: str
    version: str

    @classmethod
    def parse(cls, specification: Mapping[str, str]) -> "TemplateVersion":
        """Return the version that a ``LaunchTemplateSpecification`` of boto3 names."""
        template_id = specification.get("LaunchTemplateId", "")
        name = "" if template_id else specification.get("LaunchTemplateName", "")
        return cls(template_id, name, specification.get("Version") or DEFAULT)

    @property
    def is_alias(self) -> bool:
        """Whether the version is not a number."""
        return self.version in (LATEST, DEFAULT)

    @property
    def template(self) -> dict[str, str]:
        """The template, as arguments of boto3."""
        return {"LaunchTemplateId": self.id} if self.id else {"LaunchTemplateName": self.name}

    def __str__(self) -> str:
        return f"version {self.version} of launch template {self.id or self.name}"


class LaunchTemplates:
    """Versions of launch templates, by number or as ``$Latest`` and ``$Default``."""

    def __init__(self, aws: Calls, clock: Clock) -> None:
        self._aws = aws
        self._cache: Cache[TemplateVersion, LaunchTemplateData] = Cache(clock, _LIFETIME)

    def refresh(self, versions: Iterable[TemplateVersion]) -> None:
        """Read those that are unknown, and aliases that are some minutes old. Raises nothing: `get` does."""
        wanted = list(versions)
        due = self._cache.due(wanted)
        try:
            for alias in (LATEST, DEFAULT):
                self._list(alias, wanted, due)
                due = self._cache.due(wanted)
            by_template: dict[tuple[str, str], list[TemplateVersion]] = {}
            for version in due:
                by_template.setdefault((version.id, version.name), []).append(version)
            for same_template in by_template.values():
                self._read(same_template)
        except NodewrightError as error:
            for version in self._cache.due(wanted):
                self._cache.fail(version, error)

    def get(self, version: TemplateVersion) -> LaunchTemplateData:
        """Return the data of a version; raises `NodewrightError`."""
        return self._cache.get(version)

    def _list(self, alias: str, wanted: list[TemplateVersion], due: list[TemplateVersion]) -> None:
        """Read the versions that *alias* stands for in all templates of the account, if many are due.

        A numbered version is usually the latest. The list is read for no more pages than the calls that it could save.
        """
        sought = {version for version in due if version.version == alias or (alias == LATEST and not version.is_alias)}
        templates = {(version.id, version.name) for version in sought}
        if len(templates) <= _FEW:
            return
        pages = self._aws.pages("ec2", "describe_launch_template_versions", Versions=[alias], MaxResults=_LARGEST_PAGE)
        known = set(wanted)
        try:
            for page in islice(pages, len(templates)):
                for body in page.get("LaunchTemplateVersions", ()):
                    for version in _names_of(body, {alias, str(body["VersionNumber"])}) & known:
                        self._keep(version, body)
                        sought.discard(version)
                if not sought:
                    return
        except NodewrightError as error:
            if concerns_others(error):
                raise

    def _read(self, versions: list[TemplateVersion]) -> None:
        """Read versions of one template."""
        try:
            answer = self._aws.call(
                "ec2",
                "describe_launch_template_versions",
                **versions[0].template,
                Versions=[version.version for version in versions],
            )
        except NodewrightError as error:
            if concerns_others(error):
                raise
            if len(versions) == 1:
                self._cache.fail(versions[0], PermanentError(f"{versions[0]} can't be read: {error}"))
                return
            # One version that no longer exists makes the call fail for all.
            for version in versions:
                self._read([version])
            return
        rows = answer.get("LaunchTemplateVersions", [])
        for version in versions:
            row = _row_of(version, rows)
            if row is None:
                self._cache.fail(version, PermanentError(f"there is no {version}"))
            else:
                self._keep(version, row)

    def _keep(self, version: TemplateVersion, row: Mapping[str, Any]) -> None:
        self._cache.keep(version, parse_version(row), lifetime=_LIFETIME_OF_ALIAS if version.is_alias else _LIFETIME)


def _names_of(row: Mapping[str, Any], versions: set[str]) -> set[TemplateVersion]:
    return {
        name
        for version in versions
        for name in (
            TemplateVersion(row.get("LaunchTemplateId", ""), "", version),
            TemplateVersion("", row.get("LaunchTemplateName", ""), version),
        )
    }


def _row_of(version: TemplateVersion, rows: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Find *version* among *rows*, which include the latest and the default version if these were asked for."""
    match version.version:
        case "$Latest":
            return max(rows, key=lambda row: int(row["VersionNumber"]), default=None)
        case "$Default":
            return next((row for row in rows if row.get("DefaultVersion")), None)
        case number:
            return next((row for row in rows if str(row["VersionNumber"]) == number), None)
