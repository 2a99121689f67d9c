"""Which of the nodes that could go begin to: what limits them, what protects them, and what is best."""
