"""Themes: how much of what there is in a scenario, since one with all of it at once would show little of each."""

from dataclasses import dataclass, fields

from .dice import Dice


@dataclass(frozen=True, kw_only=True)
class Mix:
    """The chance, in percent, that a node, pod or group has something of a kind."""

    taints: int = 0
    node_affinity: int = 0
    ports: int = 0
    volumes: int = 0
    spread: int = 0
    affinity: int = 0
    gangs: int = 0
    priorities: int = 0
    #: Things that keep a pod on its node.
    blockers: int = 0
    #: Things about nodes that are not well.
    ailments: int = 0
    #: Machines without nodes, orders that are late, groups of odd sizes.
    trouble: int = 0
    #: What hardly anybody writes, or writes wrong.
    oddities: int = 0


@dataclass(frozen=True, kw_only=True)
class Theme:
    """What a scenario is mostly about."""

    name: str
    #: Pods that wait for a node, at least and at most.
    pending: tuple[int, int]
    #: How full nodes are, in percent of their cpu.
    load: tuple[int, int]
    #: The chance that a group is used whole or not at all.
    whole: int
    #: The chance that a scenario has prices.
    prices: int
    #: The chance that needed nodes give way to cheaper ones.
    consolidation: int
    mix: Mix


_GROWTH, _SHRINKING, _CALM, _SICK, _WHOLE, _CROWDED = "growth", "shrinking", "calm", "sick", "whole", "crowded"
_THEMES = (_GROWTH, _GROWTH, _GROWTH, _SHRINKING, _SHRINKING, _SHRINKING, _CALM, _CALM, _SICK, _WHOLE, _WHOLE, _CROWDED)


def random_theme(dice: Dice) -> Theme:
    """Return a theme and its mix: some kinds of things are absent, some rare and some everywhere."""
    name = dice.pick(_THEMES)
    mix = {field.name: dice.pick((0, 5, 20, 70)) for field in fields(Mix)}
    if name == _CALM:
        mix |= dict.fromkeys(("ailments", "trouble", "gangs"), 0) | {"blockers": dice.pick((0, 5)), "oddities": 0}
    if name in (_GROWTH, _CROWDED):
        mix |= {"ailments": dice.pick((0, 5)), "trouble": dice.pick((0, 0, 20)), "gangs": dice.pick((0, 0, 20))}
        mix |= {"node_affinity": dice.pick((0, 20)), "oddities": dice.pick((0, 5, 20))}
    if name == _SICK:
        mix |= {"ailments": dice.pick((40, 90)), "trouble": 70}
    if name == _SHRINKING:
        mix |= {"ailments": dice.pick((0, 10)), "trouble": dice.pick((0, 0, 20)), "blockers": dice.pick((0, 5, 30))}
    return Theme(
        name=name,
        pending={_CALM: (0, 0), _SHRINKING: (0, 3), _CROWDED: (40, 120)}.get(name, (1, 25)),
        load={_SHRINKING: (0, 45), _WHOLE: (0, 60), _CALM: (20, 70), _GROWTH: (60, 95)}.get(name, (0, 95)),
        whole={_WHOLE: 70}.get(name, dice.pick((0, 0, 15))),
        prices={_CALM: 100}.get(name, 50),
        consolidation={_CALM: 85}.get(name, 10),
        mix=Mix(**mix),
    )
