"""Built-in strategies; they register by entry points, as those of anybody else do."""
