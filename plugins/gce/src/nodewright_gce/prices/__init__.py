"""What machines cost."""
