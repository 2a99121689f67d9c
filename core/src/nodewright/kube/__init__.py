"""The API server: transport, reflectors, and what Nodewright writes to it."""
