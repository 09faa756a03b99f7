"""One reader under atheris, which watches the branches that it takes and looks for new ones.

python -m benchmarks.torture.fuzz_readers csv -max_total_time=60

Readers: csv, gzip, model. What comes after the name goes to libFuzzer. An input that breaks the law
of `tests/hostile/fuzz.py` is written to a file crash-... and ends the run with status 77.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["rfsc._input", "rfsc.export"]):
    from tests.hostile.fuzz import READERS, read_anything


def main() -> None:
    """Fuzz the reader that the first argument names."""
    _, reader, *options = sys.argv
    folder = Path(tempfile.mkdtemp())
    corpus = folder / "corpus"
    corpus.mkdir()
    (corpus / "good").write_bytes(READERS[reader][1])

    def one(content: bytes) -> None:
        read_anything(reader, content, folder)

    atheris.Setup([reader, str(corpus), *options], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
