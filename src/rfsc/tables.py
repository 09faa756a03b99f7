"""Tables as people keep them: text, categories, blanks and laboratory values, turned into named columns of numbers."""

from ._tables.table_encoder import ColumnTable, TableEncoder

__all__ = ["ColumnTable", "TableEncoder"]
