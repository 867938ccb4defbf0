"""ecCodes may not be imported before pyproj: see ``settle``."""

from zephyrus_geodata.reading.extras import settle

settle()
