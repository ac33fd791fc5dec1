"""A Chromium without a window: Qt WebEngine, from its wheel, with the DevTools protocol on a given port.

python qt_browser.py PORT WIDTH HEIGHT
"""

from __future__ import annotations

import os
import sys


def main(port: str, width: str, height: str) -> int:
    os.environ |= {
        "QT_QPA_PLATFORM": "offscreen",
        "QTWEBENGINE_REMOTE_DEBUGGING": port,
        "QTWEBENGINE_DISABLE_SANDBOX": "1",
        "QTWEBENGINE_CHROMIUM_FLAGS": "--disable-gpu --remote-allow-origins=*",
    }
    from PyQt6.QtCore import QUrl
    from PyQt6.QtWebEngineWidgets import QWebEngineView
    from PyQt6.QtWidgets import QApplication

    application = QApplication(sys.argv[:1])
    view = QWebEngineView()
    view.resize(int(width), int(height))
    view.setUrl(QUrl("about:blank"))
    view.show()
    return application.exec()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
