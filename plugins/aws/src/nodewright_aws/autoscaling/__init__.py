"""Auto Scaling groups as AWS describes them: which there are, what is in them, why launches fail."""
