"""Whole networks, each compared with what plain NumPy makes of the same weights."""
