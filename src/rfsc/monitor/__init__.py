"""Whether new rows are still like those of the fit: shifts of the score and the columns, and calibration."""

from .monitoring import monitor, with_reference
from .shift_tables import DecileTable, Monitoring, PerformanceTable, ShiftTable

__all__ = ["DecileTable", "Monitoring", "PerformanceTable", "ShiftTable", "monitor", "with_reference"]
