"""Shadow: a dry run compares its decisions, loop by loop, with what another autoscaler does. No I/O."""
