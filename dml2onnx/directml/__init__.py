"""DirectML itself: descriptors as its structures, and our program that runs them with DirectML.dll.

The program runs directly on Windows, and in Wine on Linux. ``scripts/directml.py`` installs it.
"""
