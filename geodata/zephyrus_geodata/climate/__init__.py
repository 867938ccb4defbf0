"""Climatologies built from years of analyses, out of core.

A built climatology lies in a dataset's folder::

    climatology.json            what is in force; replacing it is the commit
    climatology/ID/
      grid/                     the cells
      VARIABLE.month.npy        float32 (month, statistic, cell)
      VARIABLE.day.npy          float32 (day, hour, statistic, cell)

The statistics are the percentiles asked for, then mean and standard deviation.
"""
