"""The picture of an item: drawn from its grid, or read from its file."""

from __future__ import annotations

import io
from pathlib import Path

from zephyrus.errors import UserError
from zephyrus.messages import Image
from zephyrus_chartqa.item import ChartSource
from zephyrus_geodata import Dataset, GeodataError

_PNG = b"\x89PNG\r\n\x1a\n"


def draw_source(source: ChartSource, dataset: Dataset) -> Image:
    """Draw the chart that a question is about, always with the same bytes.

    Args:
        source: What to draw.
        dataset: Of its name.

    Raises:
        UserError: If the dataset lacks what the chart shows.
    """
    from zephyrus_chartqa.charts import draw
    from zephyrus_chartqa.charts.titles import lines
    from zephyrus_chartqa.fields import chart_data
    from zephyrus_chartqa.region import chart_region

    try:
        region = chart_region(source.region, dataset)
        data = chart_data(dataset, source.forecast, source.modality, region, source.lead_hours[-1])
        return Image(draw(data, dataset.features, source.seed), alt=". ".join(lines(data)[:2]))
    except GeodataError as error:
        raise UserError(f"the chart of {source.forecast} cannot be drawn: {error}") from error


def read_picture(file: Path, title: str) -> Image:
    """Read an image file; one that is no PNG becomes one.

    Args:
        file: It.
        title: What it shows, for policies without eyes.

    Raises:
        UserError: If it can't be read, or is no image.
    """
    try:
        data = file.read_bytes()
        if not data.startswith(_PNG):
            import PIL.Image

            out = io.BytesIO()
            with PIL.Image.open(io.BytesIO(data)) as picture:
                picture.convert("RGB").save(out, format="PNG")
            data = out.getvalue()
    except OSError as error:  # PIL's own error is one, too
        raise UserError(f"the image {file} can't be read: {error}") from error
    return Image(data, alt=title)
