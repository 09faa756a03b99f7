"""`python -m rfsc` does what the command `rfsc` does."""

import sys

from .cli import main

sys.exit(main())
