"""Controllers of workloads: Deployments, ReplicaSets, StatefulSets, DaemonSets and Jobs."""
