"""Small random worlds in which all kinds of constraints meet, by seed or as a hypothesis strategy."""

from .names import NODE_THAT_HAS_GONE
from .shrink import shrunk
from .world import World, random_world, worlds

__all__ = ["NODE_THAT_HAS_GONE", "World", "random_world", "shrunk", "worlds"]
