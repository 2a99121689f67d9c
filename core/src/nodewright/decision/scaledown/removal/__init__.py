"""How nodes are removed: the steps of the removals under way, and the marks on the nodes."""
