"""One value for all that is known of a model, and what renders it: JSON, a page to look at, a drawing.

``form`` says what every answer begins with, ``checked``, ``answers``, ``verified`` and ``lookups`` what commands say,
``records`` what a report holds. ``gathering`` asks checks, compiler, verification and runtime; ``html`` and ``svg``
draw a report, both from the positions that ``layout`` computes once. Text, which people read, is made of the same
values by the command line.
"""
