"""How much of each kind of constraint a world has: worlds with all at once would show only the first filters."""

from dataclasses import dataclass, fields

from .dice import Dice


@dataclass(frozen=True, kw_only=True)
class Mix:
    """The chance, in percent, that a pod (or for taints and cordons a node) has a constraint of a kind."""

    taints: int
    node_affinity: int
    ports: int
    scarcity: int
    disks: int
    claims: int
    spread: int
    affinity: int
    anti_affinity: int
    oddities: int

    @classmethod
    def roll(cls, dice: Dice) -> "Mix":
        """A mix in which some kinds are absent, some rare and some everywhere."""
        return cls(**{field.name: dice.pick((0, 0, 20, 80)) for field in fields(cls)})
