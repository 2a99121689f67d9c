"""Templates: what a new node of a group looks like."""
