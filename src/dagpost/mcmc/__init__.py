"""Chains that wander over orders, partitions or graphs, for problems beyond the exact tables and for comparison."""
