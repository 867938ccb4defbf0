"""The page of a run: every rollout with its trace in one HTML file, or two runs side by side."""

from zephyrus.view.run.page import IMAGES_MB, Written, write_run_view

__all__ = ["IMAGES_MB", "Written", "write_run_view"]
