"""How objects are shown to a client: whole, as a table for people, or by their metadata only."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from nodewright_fake.apiserver.document import Document, encode
from nodewright_fake.apiserver.resources import Resource
from nodewright_fake.apiserver.status import not_acceptable
from nodewright_fake.apiserver.tables import Table, table_of
from nodewright_fake.apiserver.versions import presented

Form = Literal["whole", "table", "metadata"]

_FORMS: Mapping[str, Form] = {
    "": "whole",
    "Table": "table",
    "PartialObjectMetadata": "metadata",
    "PartialObjectMetadataList": "metadata",
}
INITIAL_EVENTS_END = "k8s.io/initial-events-end"


@dataclass(frozen=True, kw_only=True)
class View:
    """What one client sees of a resource; everything comes out as encoded JSON."""

    resource: Resource
    form: Form
    now: Callable[[], datetime]
    #: The version of ``meta.k8s.io`` for tables and metadata.
    meta_version: str = "v1"
    #: How much of the object the rows of a table carry: None, Metadata or Object.
    row_objects: str = "Metadata"

    def one(self, document: Document) -> bytes:
        """Show one object."""
        if self.form == "whole":
            return presented(self.resource, document).encoded
        if self.form == "metadata":
            return encode(self._metadata(document))
        return encode(self._table([document], {"resourceVersion": document["metadata"].get("resourceVersion", "")}))

    def many(self, documents: list[Document], metadata: Mapping[str, Any]) -> bytes:
        """Show a list with the given list metadata."""
        if self.form == "table":
            return encode(self._table(documents, metadata))
        if self.form == "metadata":
            kind, api_version = "PartialObjectMetadataList", f"meta.k8s.io/{self.meta_version}"
            items: Iterable[bytes] = (encode(self._metadata(document)) for document in documents)
        else:
            kind, api_version = f"{self.resource.kind}List", self.resource.api_version
            items = (presented(self.resource, document).encoded for document in documents)
        head = encode({"kind": kind, "apiVersion": api_version, "metadata": metadata})
        return b'%b,"items":[%b]}\n' % (head[:-1], b",".join(items))

    def event(self, kind: str, document: Document) -> bytes:
        """Show one event of a watch, as a line."""
        return b'{"type":"%b","object":%b}\n' % (kind.encode(), self.one(document))

    def bookmark(self, version: int, *, initial_events_end: bool = False) -> bytes:
        """Show that everything up to *version* was sent, as a line of a watch."""
        metadata: dict[str, Any] = {"resourceVersion": str(version), "creationTimestamp": None}
        if initial_events_end:
            metadata["annotations"] = {INITIAL_EVENTS_END: "true"}
        if self.form == "table":
            shown = self._table([], {"resourceVersion": str(version)})
            if initial_events_end:
                shown["rows"] = [{"cells": [], "object": {**self._meta_type(), "metadata": metadata}}]
        elif self.form == "metadata":
            shown = {**self._meta_type(), "metadata": metadata}
        else:
            shown = {"kind": self.resource.kind, "apiVersion": self.resource.api_version, "metadata": metadata}
        return encode({"type": "BOOKMARK", "object": shown}) + b"\n"

    def _meta_type(self) -> dict[str, Any]:
        return {"kind": "PartialObjectMetadata", "apiVersion": f"meta.k8s.io/{self.meta_version}"}

    def _metadata(self, document: Document) -> dict[str, Any]:
        return {**self._meta_type(), "metadata": document["metadata"]}

    def _table(self, documents: list[Document], metadata: Mapping[str, Any]) -> dict[str, Any]:
        table: Table = table_of(self.resource)
        now = self.now()
        rows = []
        for document in documents:
            row: dict[str, Any] = {"cells": table.cells(document, now)}
            if self.row_objects == "Metadata":
                row["object"] = self._metadata(document)
            elif self.row_objects == "Object":
                row["object"] = presented(self.resource, document)
            rows.append(row)
        return {
            "kind": "Table",
            "apiVersion": f"meta.k8s.io/{self.meta_version}",
            "metadata": metadata,
            "columnDefinitions": table.definitions,
            "rows": rows,
        }


def view_for(resource: Resource, accept: str, row_objects: str, now: Callable[[], datetime]) -> View:
    """Return the first view that *accept* asks for and the server has. Raises `StatusError` 406 if there is none."""
    for media_range in accept.split(",") if accept else ("*/*",):
        media_type, *rest = (part.strip() for part in media_range.split(";"))
        if media_type not in ("application/json", "application/*", "*/*"):
            continue
        parameters = dict(part.partition("=")[::2] for part in rest)
        form = _FORMS.get(parameters.get("as", ""))
        if form is None:
            continue
        return View(
            resource=resource,
            form=form,
            now=now,
            meta_version=parameters.get("v", "v1"),
            row_objects=row_objects or "Metadata",
        )
    raise not_acceptable(["application/json"])
