"""The demo: a small cluster that breathes on the screen, told in about a minute."""
