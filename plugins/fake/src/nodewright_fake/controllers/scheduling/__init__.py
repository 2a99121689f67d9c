"""A scheduler with kube-scheduler's filters, plain and independent of the core's.

`needs` and `pod_shape` read what a pod asks for. `node_info` is a node with what runs on it, and `cache` has all nodes
and placed pods. `filters` decide where a pod may go, and `feasible_nodes` keeps their verdicts up to date. `queue`
orders the waiting pods, and `scheduler` binds them.
"""
