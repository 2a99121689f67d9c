"""From Cluster Autoscaler's set-up to values for our chart: what is carried over, what differs, what is left."""
