"""How does one argue with the posterior? A page on this machine: assume something, and see everything else change."""
