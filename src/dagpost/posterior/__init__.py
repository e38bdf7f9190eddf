"""What was found: graphs, estimates and answers."""
