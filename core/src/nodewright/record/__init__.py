"""The record: each loop's decision in a file."""
