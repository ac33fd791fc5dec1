"""Images of DxDispatch programs: its two formats, and findings for other or damaged files."""

from __future__ import annotations

import random
import struct
import zlib
from io import BytesIO
from pathlib import Path

import pytest

from dml2onnx.codes.reading import BAD_IMAGE
from dml2onnx.frontends.dx_resources import MAX_PIXELS, _decode_image
from dml2onnx.frontends.files import FileError
from dml2onnx.ir.tensor import DataType

Image = pytest.importorskip("PIL.Image")

FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM", "TGA", "ICO", "PCX", "SGI", "JPEG2000", "EPS", "PDF")


def encoded(format: str, mode: str = "RGB") -> bytes:
    stream = BytesIO()
    Image.linear_gradient("L").resize((16, 8)).convert(mode).save(stream, format)
    return stream.getvalue()


def decode(path: Path) -> str:
    """Returns the code of the finding, or an empty string."""
    try:
        assert _decode_image(path, path.name, (3, 4, 4), DataType.FLOAT32).shape == (3, 4, 4)
    except FileError as error:
        refusal = error
    else:
        return ""
    assert len(str(refusal)) < 450
    return refusal.code.id


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("format", FORMATS)
def test_formats(tmp_path: Path, format: str) -> None:
    try:
        content = encoded(format)
    except (KeyError, OSError):
        pytest.skip("not in this Pillow")
    (tmp_path / "x.png").write_bytes(content)
    assert decode(tmp_path / "x.png") == ("" if format in ("PNG", "JPEG") else BAD_IMAGE.id)


@pytest.mark.filterwarnings("error")
def test_damaged_images(tmp_path: Path) -> None:
    """500 images with bytes changed, inserted or removed; half of the PNG headers get a correct checksum."""
    chance = random.Random(3)
    originals = [encoded("PNG"), encoded("JPEG"), encoded("PNG", "P"), encoded("PNG", "LA"), encoded("JPEG", "CMYK")]
    refused = 0
    for _ in range(500):
        content = bytearray(chance.choice(originals))
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(8, len(content))
            content[place : place + chance.randint(0, 2)] = chance.randbytes(chance.randint(0, 2))
        if content.startswith(b"\x89PNG") and chance.random() < 0.5:
            content[29:33] = struct.pack(">I", zlib.crc32(content[12:29]))
        (tmp_path / "x.png").write_bytes(content)
        refused += decode(tmp_path / "x.png") == BAD_IMAGE.id
    assert refused > 100


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("side", [9_000, 100_000])
def test_images_that_claim_to_be_large(tmp_path: Path, side: int) -> None:
    assert side**2 > MAX_PIXELS
    header = b"IHDR" + struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    content = bytearray(encoded("PNG"))
    content[12:33] = header + struct.pack(">I", zlib.crc32(header))
    (tmp_path / "x.png").write_bytes(content)
    assert decode(tmp_path / "x.png") == BAD_IMAGE.id
