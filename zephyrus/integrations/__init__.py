"""Zephyrus inside other people's programs: one package for each, imported only when it is used."""
