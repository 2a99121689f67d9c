"""`help` shows the attributes of public classes with the comments that the source has above them."""

import inspect
import pydoc
import subprocess
import sys
from dataclasses import dataclass

import pytest
from nodewright import api
from nodewright.api import objects
from nodewright.api.attribute_docs import AttributeDocs, show_attributes


def help_on(thing: object) -> str:
    return pydoc.plain(pydoc.render_doc(thing)).replace(" |  ", "")


def test_help_on_a_value_type_shows_types_defaults_and_comments() -> None:
    assert (
        "Attributes:\n"
        "    group: GroupFacts\n"
        "    nodes: int\n"
        "    pods: tuple[PodSet, ...]\n"
        "    similar: tuple[str, ...] = ()\n"
        "        Ids of similar groups, over which the growth may be spread.\n"
        "    limit: int = 0\n"
    ) in help_on(api.Option)


@pytest.mark.parametrize(
    ("thing", "line"),
    [
        pytest.param(api.Provider, "The node label that holds the GPU type;", id="an abstract class"),
        pytest.param(api.PodFate, "It may be evicted. Unless a DaemonSet runs it", id="an enumeration"),
        pytest.param(api.Capability, "`NodeGroup.force_delete_nodes`", id="an enumeration of texts"),
        pytest.param(objects.Volume, "The claim is created with the pod", id="an object of Kubernetes"),
        pytest.param("nodewright.api.provider.Provider", "Labels that may differ between", id="by its path"),
    ],
)
def test_help_shows_the_comments_of(thing, line) -> None:
    assert line in help_on(thing)


def test_the_docstring_comes_first_and_is_unchanged() -> None:
    text = inspect.getdoc(api.Verdict)
    assert text is not None
    assert text.startswith("Why something is so.\n\nAttributes:\n    reason: Reason\n    detail: str = ''\n")
    assert str(vars(api.Verdict)["__doc__"]) == "Why something is so."


def test_a_class_without_attributes_keeps_its_docstring() -> None:
    assert api.TemporaryError.__doc__ == "Trying again later may help."


def test_a_subclass_does_not_inherit_the_text() -> None:
    class Mine(api.Provider):
        pass

    assert Mine.__doc__ is None


def test_members_of_enumerations_without_a_comment_are_not_listed_twice() -> None:
    assert "RUNNING" not in (api.InstanceState.__doc__ or "")


def test_without_its_source_a_class_shows_its_docstring() -> None:
    source = "class Hidden:\n    'Seen.'\n    size: int = 0\n"
    namespace: dict[str, object] = {"__name__": "no_such_module"}
    exec(source, namespace)
    show_attributes(namespace, ["Hidden"])
    assert namespace["Hidden"].__doc__ == "Seen."


def test_a_field_with_a_factory_shows_what_it_makes() -> None:
    assert "labels: Mapping[str, str] = dict()" in (api.NodeTemplate.__doc__ or "")


def test_private_attributes_are_not_shown() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Box:
        """A box."""

        #: How long it is.
        length: int = 1
        #: How it is kept.
        _hidden: int = 2

    show_attributes({"Box": Box}, ["Box"])
    assert Box.__doc__ == "A box.\n\nAttributes:\n    length: int = 1\n        How long it is."


def test_an_import_reads_no_source() -> None:
    code = (
        "import linecache, sys, nodewright.api, nodewright.api.objects as objects\n"
        "assert not [file for file in linecache.cache if 'nodewright' in file]\n"
        "assert 'claim is created' in objects.Volume.__doc__\n"
        "assert [file for file in linecache.cache if 'nodewright' in file]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_every_public_class_with_comments_has_them_in_its_docs() -> None:
    classes = [getattr(module, name) for module in (api, objects) for name in module.__all__]
    shown = [
        each
        for each in classes
        if isinstance(vars(each).get("__doc__") if isinstance(each, type) else 0, AttributeDocs)
    ]
    commented = [each for each in shown if "\n    #:" in inspect.getsource(each)]
    assert len(commented) > 30
    assert [each for each in commented if "\nAttributes:\n" not in each.__doc__] == []
