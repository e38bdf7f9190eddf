"""Chains that wander over graphs, orders or partitions, for problems beyond the exact tables and for comparison."""
