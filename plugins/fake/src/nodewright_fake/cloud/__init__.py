"""A cloud of node groups: what it offers, what it does, what goes wrong with it, and its API over HTTP."""
