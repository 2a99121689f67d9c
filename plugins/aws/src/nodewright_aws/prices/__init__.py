"""What instances cost."""
