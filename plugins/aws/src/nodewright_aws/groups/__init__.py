"""Auto Scaling groups: found, read and changed."""
