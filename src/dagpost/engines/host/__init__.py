"""The exact sums in the memory of this process."""
