"""Makes a release of all distributions together: ``python -m release VERSION``."""
