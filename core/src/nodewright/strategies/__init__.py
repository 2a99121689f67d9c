"""Built-in strategies; they register by entry points, as any other distribution's do."""
