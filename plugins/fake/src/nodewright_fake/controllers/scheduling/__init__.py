"""A scheduler with kube-scheduler's filters, plain and independent of the core's.

`needs` and `shape` read what a pod asks for; `node` is a node and what runs on it; `judge` holds the filters that look
at one node, `spread` and `neighbours` those that look around. `cluster` keeps the state, `candidates` and `queue` save
repeated work, `placer` finds a node for a pod, and `scheduler` drives.
"""
