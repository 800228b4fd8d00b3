"""Change the core in small ways and see whether its tests notice."""
