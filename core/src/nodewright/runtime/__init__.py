"""The shell round the decision: the loop, its clock, the providers, and the executor that carries decisions out."""
