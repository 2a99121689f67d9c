"""Which machines AWS is about to take away."""
