"""What draining a node means for its pods: the rules that are asked, and the budgets that they share."""
