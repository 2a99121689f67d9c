"""Machine types, and what is left for pods of a machine of a type."""
