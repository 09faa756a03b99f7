"""Public relatives of RFSC on PyPI, in environments of their own: they need old versions of NumPy and scikit-learn."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

from .measuring import ROOT, run_python

SCRIPT = str(Path(__file__).with_name("relative_fit.py"))
VERSIONS = {"drfsc": "0.0.7", "distfeatselect": "0.1.4"}
# later versions of scikit-learn have renamed arguments that both packages use
_NEWEST_THAT_WORK = ("numpy<2", "pandas<3", "scikit-learn<1.5", "statsmodels<0.15", "scipy<1.14", "matplotlib", "dcor")
_NEEDS = {
    # drfsc 0.0.7 pins these. scikit-learn 1.1.2 and statsmodels 0.13.2 have no wheels for Python 3.11, which rfsc needs
    # at least: the next patch releases do. Later Pythons get the newest versions it still runs with.
    "drfsc": (
        ("numpy==1.23.4", "pandas==1.5.2", "scikit-learn==1.1.3", "statsmodels==0.13.5", "matplotlib==3.6.2"),
        _NEWEST_THAT_WORK,
    ),
    "distfeatselect": (_NEWEST_THAT_WORK,),
}


def relative_python(package: str) -> Path | None:
    """The Python of an environment that can import a relative, made from PyPI if it is missing; None if that fails."""
    folder = ROOT / f".venv-{package}"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    for needs in ((), *_NEEDS[package]):
        try:
            if needs:
                sys.stderr.write(f"making {folder.name} ...\n")
                venv.create(folder, with_pip=True, clear=True)
                run_python(python, "-m", "pip", "install", "-q", "--retries", "2", "--only-binary", ":all:", *needs)
                run_python(python, "-m", "pip", "install", "-q", "--no-deps", f"{package}=={VERSIONS[package]}")
            run_python(python, "-c", f"import {package}")
            return python
        except (OSError, subprocess.CalledProcessError):
            continue
    return None
