"""Which features and terms can be believed: p-values that hold after the selection."""

from .certificate import Certificate, CertificateSettings, HalfScore, UnitTable
from .certifying import certify

__all__ = ["Certificate", "CertificateSettings", "HalfScore", "UnitTable", "certify"]
