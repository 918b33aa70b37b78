"""Report: one HTML page that tells what was learned, complete in itself: no script, no network."""

from omba.report.findings import Findings, findings, of_model, period
from omba.report.page import render, write

__all__ = ["Findings", "findings", "of_model", "period", "render", "write"]
