"""One module for each quirk, named as ``schemas/targets/*.json`` name it."""
