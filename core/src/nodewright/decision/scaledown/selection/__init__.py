"""The selection of removable nodes that begin to go: what limits them, what protects them, and which set is best."""
