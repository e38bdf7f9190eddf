"""What a person sees: pictures of results."""
