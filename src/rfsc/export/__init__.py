"""A model outside of Python: a model file, SQL, ONNX, a workbook, and functions in other languages."""

from .c_code import to_c
from .calculator import to_html
from .javascript import to_javascript
from .json_file import ModelFileError, from_json, load, save, to_json
from .onnx import to_onnx
from .python_code import to_python
from .sql import to_sql
from .workbook import to_xlsx

__all__ = [
    "ModelFileError",
    "from_json",
    "load",
    "save",
    "to_c",
    "to_html",
    "to_javascript",
    "to_json",
    "to_onnx",
    "to_python",
    "to_sql",
    "to_xlsx",
]
