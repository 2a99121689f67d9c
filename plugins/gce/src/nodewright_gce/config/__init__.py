"""What users write under ``gce`` in YAML."""
