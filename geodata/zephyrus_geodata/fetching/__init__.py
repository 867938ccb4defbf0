"""Fetching real forecasts and analyses from where they are published.

``catalogue`` knows the sources; a *transport* (``mirror`` for Zarr over HTTP, ``grib_files`` for GRIB
with an index, ``ice`` for Icechunk) works out which bytes a request needs, brings them into a
cache that a broken fetch goes on from, and hands what came to reading and to the store.
"""
