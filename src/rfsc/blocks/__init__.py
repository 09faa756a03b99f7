"""Rows that are not in hand: a dask array or data frame, or a file, cut into blocks that stay where they are."""

from .blocks import Blocks, Traffic
from .parts import Parts, is_dask
from .reading import most_in_hand, read_blocks, rows_in_hand
from .row_block import RowBlock

__all__ = ["Blocks", "Parts", "RowBlock", "Traffic", "is_dask", "most_in_hand", "read_blocks", "rows_in_hand"]
