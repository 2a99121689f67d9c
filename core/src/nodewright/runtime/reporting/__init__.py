"""What people and machines learn of the loop: log lines, events, the status, metrics, records."""
