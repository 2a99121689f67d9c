"""The record of decisions: what was decided, loop by loop, in a file."""
