"""Nodes: kubelets, and the controllers of what follows from the state of nodes."""
