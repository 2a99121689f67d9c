"""The heart: a world, a memory and a policy go in; a decision that explains itself, and the next memory, come out."""
