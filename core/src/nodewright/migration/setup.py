"""A set-up of Cluster Autoscaler, however it is kept, and its migration."""

from collections.abc import Sequence
from dataclasses import replace

from nodewright.api.errors import ConfigurationError, Problem
from nodewright.migration.chart_values import migrate_values
from nodewright.migration.deployments import deployments_in, migrate_deployment
from nodewright.migration.documents import Document
from nodewright.migration.migration import Migration
from nodewright.migration.note import check
from nodewright.migration.releases import releases_in


def migrate(documents: Sequence[Document], *, release: str = "", namespace: str = "", image: str = "") -> Migration:
    """Return what the set-up in *documents* becomes, with *image* as the image of Nodewright.

    *release* and *namespace* are those of bare values; *namespace* also that of objects that name none. Raises
    `ConfigurationError` if there is no set-up in them, or more than one.
    """
    found = [
        replace(migrated, notes=(*given.notes, *migrated.notes))
        for given in releases_in(documents, name=release, namespace=namespace)
        for migrated in [migrate_values(given.values, given.release)]
    ]
    found = found or [migrate_deployment(each) for each in deployments_in(documents, namespace=namespace)]
    if not found:
        raise _wrong(
            "nothing in it runs Cluster Autoscaler: give its values, its Deployment, or what installs its chart"
        )
    if len(found) > 1:
        keepers = ", ".join(each.release.keeper for each in found)
        raise _wrong(f"there are several set-ups: {keepers}; give one at a time, in the cluster by --namespace")
    return _with_image(found[0], image)


def _with_image(migration: Migration, image: str) -> Migration:
    if not image:
        note = check("image", "nodewright, of this version: push it to your registry, and name it with --image")
        return replace(migration, notes=(*migration.notes, note))
    named = {"repository": image}
    without, at, digest = image.partition("@")
    name, colon, tag = without.rpartition(":")
    if colon and "/" not in tag:
        named = {"repository": name, "tag": f"{tag}{at}{digest}"}
    elif at:
        named = {"repository": f"{without}@{digest.partition(':')[0]}", "tag": digest.partition(":")[2]}
    given = migration.values.get("image") or {}
    return replace(migration, values=migration.values | {"image": given | named})


def _wrong(message: str) -> ConfigurationError:
    return ConfigurationError(Problem(message=message, source="input"))
