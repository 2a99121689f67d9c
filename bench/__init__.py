"""What is fast: worlds of a given shape, timed, checked, and compared with a reference in the same run."""
