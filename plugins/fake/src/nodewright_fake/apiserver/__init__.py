"""A Kubernetes API server over HTTP, in memory."""
