"""The documentation as a site, and the public surface that its reference describes."""
