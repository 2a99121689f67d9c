"""The built-in drain rules, one in a file; those of Cluster Autoscaler are named after its own."""
