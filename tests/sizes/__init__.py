"""Other sizes and sizes with names."""
