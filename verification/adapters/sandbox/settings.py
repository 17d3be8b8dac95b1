"""What an operator decides about the sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

MEGABYTE = 1_000_000
NETWORK = "loomverify-install"
IMAGES: Mapping[str, str] = {
    "python": "python:3.12-slim",
    "node": "node:20-slim",
    "go": "golang:1.22-alpine",
    "rust": "rust:1.90-slim",
    "java": "maven:3-eclipse-temurin-21",
    "gradle": "gradle:8-jdk21",
    "ruby": "ruby:3.3",
    "php": "composer:2",
    "make": "gcc:14",
    "dotnet": "mcr.microsoft.com/dotnet/sdk:8.0",
}


@dataclass(frozen=True, slots=True)
class Bounds:
    """Of one container. What is written to its workspace counts as memory, too.

    `cpus` 0 is no bound.
    """

    memory_bytes: int = 2_000 * MEGABYTE
    cpus: float = 1.0
    processes: int = 256
    workspace_bytes: int = 1_000 * MEGABYTE
    workspace_files: int = 200_000
    temporary_bytes: int = 500 * MEGABYTE
    installed_bytes: int = 4_000 * MEGABYTE


@dataclass(frozen=True, slots=True)
class SandboxSettings:
    """`address` '': where the environment says. `runtime` '': the engine's own.

    `network` is what installs reach; where the engine has none of that name, it is made.
    `owner` names this installation, `worker` the process: what they left behind is swept.
    """

    owner: str
    worker: str
    address: str = ""
    images: Mapping[str, str] = field(default_factory=lambda: IMAGES, hash=False)
    runtime: str = ""
    proxy: str = ""
    network: str = NETWORK
    bounds: Bounds = Bounds()
