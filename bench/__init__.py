"""Benchmarks: worlds of a given shape are timed, checked, and compared with a reference in the same run."""
