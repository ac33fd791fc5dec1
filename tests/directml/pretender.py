"""A fake of the Windows program: reads the file of cases, and behaves according to each case's flags.

Flags: 0 accepts the case and returns the wanted buffers unchanged; 1 refuses it; 2 crashes; 3 loses the device; 4
hangs; 5 does not start; 6 exits as if all cases were done.
"""

from __future__ import annotations

import os
import struct
import sys
import time
from pathlib import Path


class Reader:
    def __init__(self, content: bytes) -> None:
        self.content, self.place = content, 0

    def take(self, layout: str) -> tuple[int, ...]:
        values = struct.unpack_from("<" + layout, self.content, self.place)
        self.place += struct.calcsize("<" + layout)
        return values

    def skip(self, size: int) -> bytes:
        self.place += size
        return self.content[self.place - size : self.place]


def read_case(content: bytes) -> tuple[int, int, list[bytes]]:
    """Steps, flags and the wanted buffers of a case."""
    reader = Reader(content)
    _, steps, flags = reader.take("III")
    reader.skip(*reader.take("I"))  # the memory
    for width in (4, 12, 16, 16, 16):  # pointers, nodes, three kinds of edges
        reader.skip(width * reader.take("I")[0])
    wanted = []
    for _ in range(*reader.take("I")):
        size, is_wanted, length = reader.take("QII")
        buffer = reader.skip(length).ljust(size, b"\0")
        wanted += [buffer] if is_wanted else []
    for _ in range(2):
        reader.skip(24 * reader.take("I")[0])
    assert reader.place == len(content)
    return steps, flags, wanted


def main() -> int:
    first, cases, results = int(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4])
    reader = Reader(cases.read_bytes())
    magic, count = reader.take("II")
    assert magic == 0x314C4D44
    with results.open("ab") as file:
        for number in range(count):
            content = reader.skip(*reader.take("I"))
            if number < first:
                continue
            steps, flags, wanted = read_case(content)
            if flags == 5:
                print("no device", file=sys.stderr)
                return 11
            if flags == 2:
                print("exception c0000005", file=sys.stderr)
                return 21
            if flags == 6:
                return 0
            if flags == 4:
                time.sleep(60)
            refused = flags == 1
            codes = [0x80070057] if refused else [0]
            codes += [0 if steps >= wants and not refused else 0xFFFFFFFF for wants in (1, 3)]
            removed = 0x887A0005 if flags == 3 else 0
            step = b"CreateOperator" if refused else b""
            buffers = wanted if steps == 3 and not refused else []
            record = struct.pack("<5II", number, *codes, removed, len(step)) + step + struct.pack("<I", len(buffers))
            record += b"".join(struct.pack("<I", len(each)) + each for each in buffers)
            file.write(record)
            file.flush()
            if flags == 3:
                return 20
    return 0


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)
