"""The weather tools an agent calls: `features`, `dataset`, `climatology` and `map`.

Each tool is a module of its own, found through the entry point group ``zephyrus.tools``. They share
`arguments`, `variables` (what), `places` (where), `times` (when), `reduce` (statistics over steps),
`ranking` (tables) and `text` (how answers are written); the map has `regions`, `palettes` and
`drawing` besides.
"""
