"""Models leave Python: a model file, SQL, ONNX, and functions in other languages."""

from .json_file import ModelFileError, from_json, load, save, to_json
from .onnx import to_onnx

__all__ = ["ModelFileError", "from_json", "load", "save", "to_json", "to_onnx"]
