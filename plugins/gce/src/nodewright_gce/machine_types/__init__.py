"""Machine types and what they have."""
