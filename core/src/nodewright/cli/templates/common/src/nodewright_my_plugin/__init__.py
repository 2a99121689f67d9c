"""${Noun} for Nodewright: my-plugin."""
