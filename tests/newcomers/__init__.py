"""Mistakes of people who write their first graphs, with what a fully right answer to each of them says."""
