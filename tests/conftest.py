"""A busy machine must not fail a property test by its time."""

from hypothesis import settings

settings.register_profile("zephyrus", deadline=None)
settings.load_profile("zephyrus")
