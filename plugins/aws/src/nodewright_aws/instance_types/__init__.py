"""Instance types, and how much of an instance pods may use."""
