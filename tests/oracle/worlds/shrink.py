"""Making a failing world small: leave out whatever is not needed for it to fail."""

from collections.abc import Callable, Iterator
from dataclasses import fields, replace

from msgspec import structs
from nodewright.objects import Pod, PodSpec

from .world import World


def shrunk(world: World, fails: Callable[[World], bool]) -> World:
    """The smallest world like *world* that still *fails*, found by leaving out one thing after the other.

    At least one node and one pending pod stay.
    """
    while (smaller := next(filter(fails, _smaller(world)), None)) is not None:
        world = smaller
    return world


def _smaller(world: World) -> Iterator[World]:
    for name in (field.name for field in fields(World)):
        things = getattr(world, name)
        if name in ("nodes", "pending") and len(things) == 1:
            continue
        for index in range(len(things)):
            yield replace(world, **{name: things[:index] + things[index + 1 :]})
    for index, pods in enumerate(world.pending):
        if len(pods) > 1:
            yield _with(world, "pending", index, pods[:-1])
        plainer = [[_without(pod, name) for pod in pods] for name in _told(pods[0])]
        for each in plainer:
            yield _with(world, "pending", index, tuple(each))
    for index, pod in enumerate(world.running):
        for name in _told(pod):
            yield _with(world, "running", index, _without(pod, name))


def _with(world: World, name: str, index: int, thing: object) -> World:
    things = getattr(world, name)
    return replace(world, **{name: (*things[:index], thing, *things[index + 1 :])})


def _told(pod: Pod) -> list[str]:
    """The fields of the pod's specification that say anything, without its containers' names and its node."""
    plain = PodSpec()
    return [
        name
        for name in PodSpec.__struct_fields__
        if name != "node_name" and getattr(pod.spec, name) != getattr(plain, name)
    ]


def _without(pod: Pod, name: str) -> Pod:
    return structs.replace(pod, spec=structs.replace(pod.spec, **{name: getattr(PodSpec(), name)}))
