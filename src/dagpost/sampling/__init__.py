"""Independent draws from the exact posterior."""
