"""The recording DirectML device for C++ programs: one header, which ``scripts/generate_recorder.py`` writes."""
