"""The answers of commands as values, and the report of a model as JSON, an HTML page, or an SVG drawing.

``form`` has the common members of all answers, ``answers`` and its neighbours those of each command, and ``records``
the report, which ``gathering`` collects from checks, compiler, verification and runtime. ``html`` and ``svg`` draw a
report with the positions of ``layout``. The command line prints the same values as text.
"""
