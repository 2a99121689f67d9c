"""How nodes go: the steps of the removals under way, and the marks on the nodes."""
