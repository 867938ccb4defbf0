"""The weather tools an agent calls: `features`, `dataset`, `climatology` and `map`.

Each tool is a module of its own and is found through the entry point group ``zephyrus.tools``.
The other modules are what they share: `places` (where), `times` (when), `variables` (what) and
`text` (how answers are written).
"""
