"""What is a node, given its parents? On the columns' own scale, with draws from the posterior of its parameters."""
