"""The demo: a story of a minute about a small cluster, on the screen."""
