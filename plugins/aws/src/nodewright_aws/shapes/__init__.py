"""Instance types, and how much of a machine pods may use."""
