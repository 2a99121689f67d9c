"""Releases of Cluster Autoscaler's chart, in what keeps them: files of values, GitOps objects, Terraform's state."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from nodewright.migration.chart_values import CHART, KNOWN, is_known
from nodewright.migration.documents import Document, entries, mappings, read_documents, section, word
from nodewright.migration.migration import Release
from nodewright.migration.note import Note, check, hand

_NAMESPACE = "kube-system"
_KEY = re.compile(r"((?:\\.|[^.\\\[])+)|\[(\d+)\]|\.")
_MOST_ITEMS = 1000


@dataclass(frozen=True, kw_only=True)
class Given:
    """A release that was found, and the values that it was given."""

    release: Release
    values: Document
    notes: list[Note] = field(default_factory=list)
    #: Files and objects with values below these: the field that names each, and its name.
    elsewhere: list[tuple[str, str]] = field(default_factory=list)


def releases_in(documents: Sequence[Document], *, name: str = "", namespace: str = "") -> Iterator[Given]:
    """Yield the releases of Cluster Autoscaler's chart in *documents*.

    Bare values are those of the files that a release names, or of a release of their own with *name* and *namespace*.
    """
    values: Document = {}
    found: list[Given] = []
    for each in documents:
        match str(each.get("apiVersion", "")).partition("/")[0], each.get("kind"):
            case "argoproj.io", "Application":
                found += _of_application(each)
            case "argoproj.io", "ApplicationSet":
                found += _of_application(section(each, "spec", "template"))
            case "helm.toolkit.fluxcd.io", "HelmRelease":
                found += _of_flux(each, documents)
            case "helm.cattle.io", "HelmChart":
                found += _of_rancher(each, documents)
            case _, "Kustomization" | None if "helmCharts" in each:
                found += _of_kustomization(each)
            case "", None if "releases" in each:
                found += _of_helmfile(each)
            case "", None if isinstance(each.get("helm"), dict):
                found += _of_fleet(each)
            case "", None if each.keys() & {"format_version", "terraform_version", "resource_changes"}:
                found += _of_terraform(each)
            case "", None:
                values = merged(values, _without_parent(each))
    yield from (_with_files(each, values) for each in found)
    if not found and any(map(is_known, values)):
        yield _bare(values, name, namespace)


def _with_files(given: Given, values: Document) -> Given:
    """Return *given* with *values* as those of the files that it names, and notes about these files."""
    if not values:
        notes = [hand(at, f"{who} is read, too: nodewright migrate takes several files") for at, who in given.elsewhere]
    else:
        notes = [check(at, f"{who} is among the values given beside it") for at, who in given.elsewhere]
    return replace(given, values=merged(values, given.values), notes=[*given.notes, *notes])


def merged(below: Document, above: Document) -> Document:
    """Return the values *below* with those *above* over them, as Helm does: null takes a value away."""
    result = dict(below)
    for key, value in above.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = merged(result[key], value)
        else:
            result[key] = value
    return result


def put(values: Document, path: str, value: Any) -> None:
    """Set *value* at *path* as ``helm --set`` does: dots between keys, a backslash before other dots, [0] for items."""
    keys = [
        int(found[2]) if found[2] else re.sub(r"\\(.)", r"\1", found[1])
        for found in _KEY.finditer(path)
        if found[1] or found[2]
    ]
    if not keys:
        return
    here: Any = values
    for key, following in zip(keys, [*keys[1:], None], strict=True):
        if isinstance(key, int):
            if not isinstance(here, list) or key >= _MOST_ITEMS:
                return
            here += [None] * (key + 1 - len(here))
            inner = here[key]
        elif isinstance(here, dict):
            inner = here.get(key)
        else:
            return
        if following is None:
            here[key] = value
        else:
            wanted = list if isinstance(following, int) else dict
            here[key] = inner if isinstance(inner, wanted) else wanted()
            here = here[key]


def _bare(values: Document, name: str, namespace: str) -> Given:
    release, home = name or CHART, namespace or _NAMESPACE
    notes = []
    if not (name and namespace):
        notes.append(
            check("--release", f"names are those of the release {release} in {home}: helm list -A shows yours")
        )
    return Given(release=_helm(release, home, "values of Cluster Autoscaler's chart"), values=values, notes=notes)


def _helm(name: str, namespace: str, keeper: str) -> Release:
    return Release(
        name=name,
        namespace=namespace,
        keeper=keeper,
        steps=(
            f"helm upgrade {name} deploy/chart --namespace {namespace} --values values.yaml",
            f"the way back: helm rollback {name} --namespace {namespace}",
        ),
    )


def _of_application(each: Document) -> Iterator[Given]:
    spec = section(each, "spec")
    title = word(each, "metadata", "name") or CHART
    for source in [*mappings(spec, "sources"), section(spec, "source")]:
        helm = section(source, "helm")
        if source.get("chart") != CHART and CHART not in word(source, "path"):
            continue
        values = merged(_parsed(helm.get("values"), "helm.values"), section(helm, "valuesObject"))
        for parameter in mappings(helm, "parameters"):
            text = word(parameter, "value")
            put(values, word(parameter, "name"), text if parameter.get("forceString") else _read(text))
        keeper = f"the Argo CD Application {title}"
        yield Given(
            release=Release(
                name=word(helm, "releaseName") or title,
                namespace=word(spec, "destination", "namespace") or _NAMESPACE,
                keeper=keeper,
                steps=(
                    f"in {keeper}, let the source be our chart, and helm.valuesObject these values",
                    "leave out helm.valueFiles, helm.values and helm.parameters, and sync it",
                    "the way back: revert that commit, and sync again",
                ),
            ),
            values=_without_parent(values),
            elsewhere=[("valueFiles", str(file)) for file in entries(helm, "valueFiles")],
        )


def _of_flux(each: Document, documents: Sequence[Document]) -> Iterator[Given]:
    spec, metadata = section(each, "spec"), section(each, "metadata")
    chart = word(spec, "chart", "spec", "chart")
    if chart and not chart.rstrip("/").endswith(CHART):
        return
    values: Document = {}
    elsewhere = []
    for reference in mappings(spec, "valuesFrom"):
        found = _values_from(reference, documents)
        if found is None:
            elsewhere.append(("valuesFrom", f"{word(reference, 'kind')} {word(reference, 'name')}"))
        else:
            values = merged(values, found)
    title, target = word(metadata, "name") or CHART, word(spec, "targetNamespace")
    keeper = f"the Flux HelmRelease {title}"
    yield Given(
        release=Release(
            name=word(spec, "releaseName") or (f"{target}-{title}" if target else title),
            namespace=target or word(metadata, "namespace") or _NAMESPACE,
            keeper=keeper,
            steps=(
                f"in {keeper}, let spec.chart be our chart, and spec.values these values; commit it",
                "the way back: revert that commit",
            ),
        ),
        values=_without_parent(merged(values, section(spec, "values"))),
        elsewhere=elsewhere,
    )


def _values_from(reference: Document, documents: Sequence[Document]) -> Document | None:
    for each in documents:
        if each.get("kind") == word(reference, "kind") and word(each, "metadata", "name") == word(reference, "name"):
            texts = section(each, "data") | section(each, "stringData")
            text = texts.get(word(reference, "valuesKey") or "values.yaml")
            return None if text is None or reference.get("targetPath") else _parsed(text, word(reference, "name"))
    return None


def _of_rancher(each: Document, documents: Sequence[Document]) -> Iterator[Given]:
    spec, metadata = section(each, "spec"), section(each, "metadata")
    if not word(spec, "chart").rstrip("/").endswith(CHART):
        return
    values = merged(_parsed(spec.get("valuesContent"), "spec.valuesContent"), section(spec, "values"))
    for config in documents:
        if config.get("kind") == "HelmChartConfig" and word(config, "metadata", "name") == word(metadata, "name"):
            values = merged(values, _parsed(section(config, "spec").get("valuesContent"), "HelmChartConfig"))
    for path, value in section(spec, "set").items():
        put(values, path, _read(value) if isinstance(value, str) else value)
    name = word(metadata, "name") or CHART
    keeper = f"the HelmChart {name}"
    yield Given(
        release=Release(
            name=name,
            namespace=word(spec, "targetNamespace") or word(metadata, "namespace") or _NAMESPACE,
            keeper=keeper,
            steps=(
                f"in {keeper}, let spec.chart or spec.chartContent be our chart, and spec.valuesContent these values",
                "leave out spec.repo, spec.version and spec.set, and apply it",
                "the way back: apply the old one",
            ),
        ),
        values=values,
    )


def _of_kustomization(each: Document) -> Iterator[Given]:
    for chart in mappings(each, "helmCharts"):
        if word(chart, "name") == CHART:
            files = [*entries(chart, "additionalValuesFiles"), *filter(None, [chart.get("valuesFile")])]
            yield Given(
                release=_in_file(
                    "the kustomization's helmCharts",
                    word(chart, "releaseName"),
                    word(chart, "namespace") or word(each, "namespace"),
                    "valuesInline these values, without valuesFile",
                ),
                values=_without_parent(section(chart, "valuesInline")),
                notes=_named_by_default(word(chart, "releaseName")),
                elsewhere=[("valuesFile", str(file)) for file in files],
            )


def _of_helmfile(each: Document) -> Iterator[Given]:
    for release in mappings(each, "releases"):
        if word(release, "chart").rstrip("/").endswith(CHART):
            values: Document = {}
            given = entries(release, "values")
            for own in given:
                values = merged(values, own) if isinstance(own, dict) else values
            for setting in mappings(release, "set"):
                put(values, word(setting, "name"), _read(word(setting, "value")))
            title = word(release, "name") or CHART
            yield Given(
                release=_in_file(
                    f"the Helmfile's release {title}", title, word(release, "namespace"), "values these, without set"
                ),
                values=_without_parent(values),
                elsewhere=[("values", own) for own in given if isinstance(own, str)],
            )


def _of_fleet(each: Document) -> Iterator[Given]:
    helm = section(each, "helm")
    if word(helm, "chart").rstrip("/").endswith(CHART):
        home = next(filter(None, (word(each, key) for key in ("namespace", "defaultNamespace"))), "")
        yield Given(
            release=_in_file(
                "Fleet's bundle", word(helm, "releaseName"), home, "helm.values these, without valuesFiles"
            ),
            values=_without_parent(section(helm, "values")),
            notes=_named_by_default(word(helm, "releaseName")),
            elsewhere=[("helm.valuesFiles", str(file)) for file in entries(helm, "valuesFiles")],
        )


def _named_by_default(name: str) -> list[Note]:
    return [] if name else [hand("releaseName", "not given: helm list -A shows the name; write it there")]


def _in_file(keeper: str, name: str, namespace: str, values: str) -> Release:
    """Return a release that *keeper* keeps, in whose file *values* says where the values go."""
    return Release(
        name=name or CHART,
        namespace=namespace or _NAMESPACE,
        keeper=keeper,
        steps=(
            f"in {keeper}, let chart, repo and version be those of our chart, and {values}; apply it",
            "the way back: revert that, and apply again",
        ),
    )


def _of_terraform(state: Any) -> Iterator[Given]:
    """Yield the releases in what ``terraform show -json`` prints, of a state or of a plan."""
    if isinstance(state, list):
        for each in state:
            yield from _of_terraform(each)
    elif isinstance(state, dict) and state.get("type") == "helm_release" and isinstance(state.get("values"), dict):
        attributes = state["values"]
        if word(attributes, "chart").rstrip("/").endswith(CHART):
            yield _terraform_release(attributes, str(state.get("address") or "helm_release"))
    elif isinstance(state, dict):
        for key, each in state.items():
            # A plan has all resources once more, as they were and as they change.
            if key not in ("prior_state", "resource_changes", "configuration"):
                yield from _of_terraform(each)


def _terraform_release(attributes: Document, address: str) -> Given:
    values: Document = {}
    for text in entries(attributes, "values"):
        values = merged(values, _parsed(text, f"{address}.values"))
    for block in ("set", "set_sensitive"):
        for each in mappings(attributes, block):
            text = word(each, "value")
            put(values, word(each, "name"), text if each.get("type") == "string" else _read(text))
    for each in mappings(attributes, "set_list"):
        put(values, word(each, "name"), entries(each, "value"))
    return Given(
        release=Release(
            name=word(attributes, "name") or CHART,
            namespace=word(attributes, "namespace") or "default",
            keeper=f"Terraform's {address}",
            steps=(
                f'in {address}, let chart be our chart, and values [file("values.yaml")]',
                "leave out set, repository and version, and apply it",
                "the way back: revert that, and apply again",
            ),
        ),
        values=_without_parent(values),
    )


def _without_parent(values: Document) -> Document:
    """Return the values of the chart itself, if they are given below its name, as for a dependency."""
    below = values.get(CHART)
    return below if isinstance(below, dict) and not values.keys() & (KNOWN - {"global"}) else values


def _parsed(text: Any, place: str) -> Document:
    values: Document = {}
    for each in read_documents(text, place) if isinstance(text, str) else ():
        values = merged(values, each)
    return values


def _read(text: str) -> Any:
    """Return the value of *text* as ``helm --set`` reads it: a number, true, null, {a,b}, or a text."""
    if text.startswith("{") and text.endswith("}"):
        return [_read(each) for each in text[1:-1].split(",") if each]
    if text in ("true", "false"):
        return text == "true"
    if text == "null":
        return None
    if re.fullmatch(r"0|-?[1-9][0-9]{0,17}", text):
        return int(text)
    return text.replace("\\,", ",")
