"""What draining a node means for its pods: the drain rules, and the budgets that pods share."""
