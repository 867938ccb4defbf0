"""Reading anybody's weather data: bytes -> cubes -> axes -> meaning -> ``Understood``."""
