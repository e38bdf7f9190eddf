"""What was believed before the data: structure priors, required and forbidden edges, tiers."""
