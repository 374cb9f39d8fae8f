"""Files of the site that are made when it is built: MathJax from its package, the data of the calculator."""

from __future__ import annotations

import importlib.metadata
import shutil
from pathlib import Path

from measurements.advice import measured

# Its extension would copy 24 MB of fonts and languages to the site; this one file draws formulas as SVG.
PACKAGE, FILE = "sphinx-mathjax-offline", "tex-svg.js"


def made(folder: Path) -> Path:
    """Make the files in a folder, and return the folder."""
    target = folder / "mathjax" / FILE
    if not target.exists():
        every = importlib.metadata.files(PACKAGE) or []
        (found,) = (path for path in every if path.name == FILE)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(Path(str(found.locate())), target)
    (folder / "advice-data.js").write_text(measured.script(), encoding="utf-8")
    return folder
