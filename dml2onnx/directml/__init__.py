"""DirectML itself: descriptors as its structures, and a program of ours that runs them through DirectML.dll.

On Windows the program runs as it is, on Linux in Wine. ``scripts/directml.py`` makes what is needed.
"""
