"""Help for plugin authors' tests."""
