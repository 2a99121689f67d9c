"""Instance types, and how much of a machine pods may use."""

from nodewright_aws.shapes.shape import Gpu, Shape

__all__ = ["Gpu", "Shape"]
