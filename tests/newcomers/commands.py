"""Seven mistakes on the command line, written down before the answers to them were read."""

from __future__ import annotations

from tests.newcomers.case import Command

COMMANDS = (
    Command("command misspelt", ("chekc", "net.json"), (r"did you mean.*check",)),
    Command("file misspelt", ("check", "nett.json"), (r"nett\.json", r"did you mean.*net\.json")),
    Command(
        "input misspelt",
        ("run", "net.json", "--input", "imgae=image.npy"),
        (r"did you mean.*image", r"imgae"),
    ),
    Command(
        "picture as it is opened",
        ("run", "net.json", "--input", "image=nhwc.npy"),
        (r"NHWC", r"1.+3.+32.+32", r"1.+32.+32.+3", r"transpose"),
    ),
    Command("opset of another time", ("compile", "net.json", "--opset", "9"), (r"\b9\b", r"17", r"28")),
    Command("target that there is not", ("compile", "net.json", "--target", "gpu"), (r"gpu", r"dml", r"cpu")),
    Command(
        "larger picture than the last layer takes",
        ("compile", "net.json", "--size", "image=1,3,64,64"),
        (r'"?classify"?', r"2048", r"8192"),
    ),
)
