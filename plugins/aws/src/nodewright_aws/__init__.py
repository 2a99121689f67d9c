"""Auto Scaling groups of AWS as node groups of Nodewright."""

__version__ = "0.1.0"
