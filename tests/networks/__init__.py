"""Whole networks, compared with the same networks in plain NumPy."""
