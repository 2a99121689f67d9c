"""An AWS in one process, with all its troubles."""
