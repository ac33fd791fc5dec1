"""Fetches the parts of D3 that the report page uses: https://d3js.org, ISC licence.

    python scripts/fetch_d3.py            write dml2onnx/report/assets/d3.min.js from the npm registry (needs npm)
    python scripts/fetch_d3.py --check    compare the file with the pinned hash, offline

``d3-zoom`` pans and zooms the maps by wheel, mouse, touch and double click; the others are its dependencies. To update
a version, change it here, run with ``--unpinned``, review the changes, and copy the printed hashes.
"""

from __future__ import annotations

import sys

from _environment import ROOT
from _npm import Package, archive, fetch, member

TARGET = ROOT / "dml2onnx" / "report" / "assets" / "d3.min.js"
# dependencies first
PACKAGES = [
    Package(*line.split())
    for line in """\
d3-dispatch 3.0.2 sha512-sAzH4Y4nsLo8eSqw5jKiZt+LU2wZmL/qS+OkxQGjhwazB/D7TY34R/QK1eshfGr7cZEKymKZ/Haem7m+lu98Sg==
d3-timer 3.0.2 sha512-1Il1aliroVSErrv5aulRBxAY+7+DnaoLIWGd1C6SsBTWDeobWiP/V69vwb8vT6abR1kKwaNe1196pmaQ1fK90A==
d3-ease 3.0.2 sha512-B5znKqRmKROAN4oHWQ50W/qisVjA9GXh2WMsVKdFVp4DxWmcrOsweqgUOUVsv5th96kwaZlokU6SlV4J3gak1w==
d3-color 3.1.1 sha512-lfab8x0Bj0UO7SNsY8dZSbNIA6ipbkE3X0NG9nqjCu6CfCHZseuDnOSJY7hidKrjpP++i1M2qT+FlAdPKYRilA==
d3-interpolate 3.0.2 sha512-IRzGU62DtxhvsnSTWMQIdnoZ6gA+BCWwBon1EJI6SjoN595799b6z/QRBzXfFhE8iupUPp3042yBNo0STPqnzQ==
d3-selection 3.0.1 sha512-ODSf35vqCrlCfp7hrm0eZjvOosSXSYLjqvIlhMBV9q9VOx7EBJG6pc+uXBswEZNJgCGJ+qnKYcWutbZDIxe/Xg==
d3-transition 3.0.2 sha512-RcjCsdFgyFoDB+QXLC5m60ZkTN0k9zH+ovoLlTdJnDS1AbfbcuowiM4pCKSTOclNibS4f4J4cbv2m7O7y8NTOQ==
d3-drag 3.0.1 sha512-OWeoayCq8J69hUIjvL+Mb6Q6Oaj/fyHV5XaXByEUAG+JUjIfTGDnk3qGpcXrD3VmQ3BSV96fcbM6fqq7C0tbPA==
d3-zoom 3.0.1 sha512-kfjD3BDQu/FOatpZ6JdMSyIoDwTxIpI29ySTI2J5ZlDaH1WbuJGQJ2Q9oJkWTEZEW98j6idezoomSD3Cn2zwiw==
""".splitlines()
]
SHA256 = "7bff6901c3c96f511583985293d12c6375b4e5025878247edf5e7ce60ea4e36b"
"""Hash of the generated file."""


def bundle(unpinned: bool) -> str:
    """All packages in one script, after their licences."""
    scripts, licences = [], []
    for package in PACKAGES:
        with archive(package, unpinned) as files:
            scripts.append(member(files, f"dist/{package.name}.min.js"))
            licences.append(f"{package.name} {package.version}\n\n{member(files, 'LICENSE')}")
    licence = "\n\n".join(licences).replace("*/", "* /")
    return f"/* Written by scripts/fetch_d3.py\n\n{licence}\n*/\n" + "\n".join(scripts) + "\n"


if __name__ == "__main__":
    sys.exit(fetch(TARGET, SHA256, bundle))
