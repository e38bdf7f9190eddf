"""The same tables and scores on a CUDA device: see engine.py for what runs there and what on threads."""
