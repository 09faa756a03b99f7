"""Models leave Python: a model file, SQL, ONNX, and functions in other languages."""

from .c_code import to_c
from .json_file import ModelFileError, from_json, load, save, to_json
from .onnx import to_onnx
from .python_code import to_python
from .spreadsheet import SheetCell, sheet_cells, to_spreadsheet
from .sql import sql_expressions, to_sql

__all__ = [
    "ModelFileError",
    "SheetCell",
    "from_json",
    "load",
    "save",
    "sheet_cells",
    "sql_expressions",
    "to_c",
    "to_json",
    "to_onnx",
    "to_python",
    "to_spreadsheet",
    "to_sql",
]
