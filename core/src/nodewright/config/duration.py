"""Durations in settings are written as everywhere: see `nodewright.objects.duration`."""

from nodewright.objects.duration import format_duration, parse_duration

__all__ = ["format_duration", "parse_duration"]
