"""Configuration: the YAML model, Cluster Autoscaler's flags, and where every value came from."""
