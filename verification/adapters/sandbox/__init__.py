"""Containers of a Docker engine, behind the engine's port `Sandbox`."""
