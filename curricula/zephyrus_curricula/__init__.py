"""The room for curricula: recipes, one YAML file each. It holds none yet."""
