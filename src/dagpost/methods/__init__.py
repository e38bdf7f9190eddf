"""How graphs are found: one file a method, all behind one protocol."""
