"""Small random worlds in which all kinds of constraints meet, by seed or as a hypothesis strategy."""

from .shrink import shrunk
from .world import World, random_world, worlds

__all__ = ["World", "random_world", "shrunk", "worlds"]
