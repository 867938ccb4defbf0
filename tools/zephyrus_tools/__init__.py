"""The weather tools an agent calls: `features`, `dataset`, `climatology` and `map`.

Each tool is a module of its own, found through the entry point group ``zephyrus.tools``. They share
`arguments`, `variables` (what), `places` (where), `times` (when), `reduce` (statistics over steps),
`ranking` (tables) and `text` (how answers are written). `ensemble` and `member_map` are offered where
forecasts have members.

A map is put together in `drawing`: the field at the pixels (`pixels`) of a region (`regions`) in the
colours of a palette (`palettes`), under ink (`ink`) of coastlines (`outlines`), contour lines
(`contours`), axes, colour bar and words (`frame`).
"""
