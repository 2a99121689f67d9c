"""The selection of nodes whose removal starts: what limits them, what protects them, and which set is best."""
