"""Exit codes of ``dml2onnx``; 0 stands for success."""

FINDINGS = 1
UNREADABLE = 2
BROKEN_PIPE = 128 + 13
"""What a shell reports of a program that SIGPIPE has ended."""
INTERRUPTED = 128 + 2
"""What a shell reports of a program that SIGINT has ended."""
