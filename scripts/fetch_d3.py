"""Fetches the parts of D3 that the report's page is made with: https://d3js.org, ISC licence.

    python scripts/fetch_d3.py            write dml2onnx/report/assets/d3.min.js, from the npm registry (needs npm)
    python scripts/fetch_d3.py --check    compare what is there with the pinned hash, without a network

``d3-zoom`` moves and scales the maps by wheel, mouse, touch and double click, and brings what it needs. Versions and
hashes of the packages stand here and nowhere else. A new version: change it, run with ``--unpinned``, look at what has
changed, and put the hashes that it prints here.
"""

from __future__ import annotations

import sys

from _environment import ROOT
from _npm import Package, archive, fetch, member

TARGET = ROOT / "dml2onnx" / "report" / "assets" / "d3.min.js"


PACKAGES = (  # each after those that it needs
    Package(
        "d3-dispatch",
        "3.0.2",
        "sha512-sAzH4Y4nsLo8eSqw5jKiZt+LU2wZmL/qS+OkxQGjhwazB/D7TY34R/QK1eshfGr7cZEKymKZ/Haem7m+lu98Sg==",
    ),
    Package(
        "d3-timer",
        "3.0.2",
        "sha512-1Il1aliroVSErrv5aulRBxAY+7+DnaoLIWGd1C6SsBTWDeobWiP/V69vwb8vT6abR1kKwaNe1196pmaQ1fK90A==",
    ),
    Package(
        "d3-ease",
        "3.0.2",
        "sha512-B5znKqRmKROAN4oHWQ50W/qisVjA9GXh2WMsVKdFVp4DxWmcrOsweqgUOUVsv5th96kwaZlokU6SlV4J3gak1w==",
    ),
    Package(
        "d3-color",
        "3.1.1",
        "sha512-lfab8x0Bj0UO7SNsY8dZSbNIA6ipbkE3X0NG9nqjCu6CfCHZseuDnOSJY7hidKrjpP++i1M2qT+FlAdPKYRilA==",
    ),
    Package(
        "d3-interpolate",
        "3.0.2",
        "sha512-IRzGU62DtxhvsnSTWMQIdnoZ6gA+BCWwBon1EJI6SjoN595799b6z/QRBzXfFhE8iupUPp3042yBNo0STPqnzQ==",
    ),
    Package(
        "d3-selection",
        "3.0.1",
        "sha512-ODSf35vqCrlCfp7hrm0eZjvOosSXSYLjqvIlhMBV9q9VOx7EBJG6pc+uXBswEZNJgCGJ+qnKYcWutbZDIxe/Xg==",
    ),
    Package(
        "d3-transition",
        "3.0.2",
        "sha512-RcjCsdFgyFoDB+QXLC5m60ZkTN0k9zH+ovoLlTdJnDS1AbfbcuowiM4pCKSTOclNibS4f4J4cbv2m7O7y8NTOQ==",
    ),
    Package(
        "d3-drag",
        "3.0.1",
        "sha512-OWeoayCq8J69hUIjvL+Mb6Q6Oaj/fyHV5XaXByEUAG+JUjIfTGDnk3qGpcXrD3VmQ3BSV96fcbM6fqq7C0tbPA==",
    ),
    Package(
        "d3-zoom",
        "3.0.1",
        "sha512-kfjD3BDQu/FOatpZ6JdMSyIoDwTxIpI29ySTI2J5ZlDaH1WbuJGQJ2Q9oJkWTEZEW98j6idezoomSD3Cn2zwiw==",
    ),
)
SHA256 = "7bff6901c3c96f511583985293d12c6375b4e5025878247edf5e7ce60ea4e36b"
"""Of the file that is made."""


def made(unpinned: bool) -> str:
    """All packages in one script, with the licence that they share before them."""
    scripts, licences = [], []
    for package in PACKAGES:
        with archive(package, unpinned) as files:
            scripts.append(member(files, f"dist/{package.name}.min.js"))
            licences.append(f"{package.name} {package.version}\n\n{member(files, 'LICENSE')}")
    licence = "\n\n".join(licences).replace("*/", "* /")
    return f"/* Written by scripts/fetch_d3.py\n\n{licence}\n*/\n" + "\n".join(scripts) + "\n"


if __name__ == "__main__":
    sys.exit(fetch(TARGET, SHA256, made))
