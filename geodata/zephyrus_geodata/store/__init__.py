"""Datasets on this machine, laid out so that a number costs a memory access.

A stored dataset is a folder::

    NAME/
      dataset.json              the manifest: what is in force; replacing it is every commit
      parts/ID/                 what one ``add`` brought
        grid/                   the cells (arrays of one file each)
        forecasts/DATE/VARIABLE.npy        float32 (cell, time), or (member, cell, time)
        forecasts/DATE/VARIABLE.mean.npy   float32 (cell, time): an ensemble's mean
        forecasts/DATE/cube-KEY/VARIABLE.npy  float64 (statistic, feature, time): see ``cube``
        series/VARIABLE.npy     float32 (time, cell) or (member, time, cell): analyses and others
      climatology.nc            if somebody put one there

Arrays are memory-mapped when they are read, so opening costs nothing and processes share them.
"""
