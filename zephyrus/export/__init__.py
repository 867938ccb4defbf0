"""Runs and banks as data sets for other trainers: Parquet, JSON lines, Hugging Face ``datasets``."""

from zephyrus.export.export import export_bank, export_run
from zephyrus.export.rows import bank_rows, run_rows
from zephyrus.export.write import FORMATS, Exported

__all__ = ["FORMATS", "Exported", "bank_rows", "export_bank", "export_run", "run_rows"]
