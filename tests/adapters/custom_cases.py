"""Short ways to have a verifier called, in this process or in a child."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.engine.cases import Files, case
from verification.adapters.custom import InstalledVerifiers
from verification.adapters.custom_calling import answer_for
from verification.adapters.custom_wire import Given
from verification.engine.fakes import MemoryWorkspace
from verification.engine.judges.asking import CustomAnswer

OPERATORS = "tests.adapters.operators"


def told_by(verifier: str, **about: Any) -> dict[str, Any]:
    """What the child would say, said in this process."""
    return answer_for(given(verifier, **about))


def given(verifier: str, *, folder: str = "", module: str = OPERATORS, **about: Any) -> Given:
    asked = case(**about)
    return Given(
        name="totals",
        target=f"{module}:{verifier}",
        submission=asked.submission,
        phase=asked.phase,
        process=asked.definition,
        attempt=2,
        folder=folder,
        paths=tuple(file.path for file in asked.submission.files),
    )


def called(
    verifier: str, *, seconds: float = 30.0, files: Files | None = None, **about: Any
) -> CustomAnswer:
    """What a worker hears of a verifier in a child of its own."""
    installed = InstalledVerifiers({"totals": f"{OPERATORS}:{verifier}"}, seconds, brought={})
    asked = case(files=files, custom_verifier="totals", **about)
    return installed.call("totals", asked, MemoryWorkspace(files))


def put_module(folder: Path, name: str, source: str) -> None:
    path = folder.joinpath(*name.split(".")).with_suffix(".py")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source)


def entry_points_of(folder: Path, package: str, points: Mapping[str, str]) -> None:
    """An installed package as an installer leaves it: a folder of metadata beside the modules."""
    metadata = folder / f"{package}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = [f"{name} = {target}" for name, target in points.items()]
    (metadata / "entry_points.txt").write_text("\n".join(["[loomverify.verifiers]", *lines, ""]))
