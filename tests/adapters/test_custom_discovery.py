from __future__ import annotations

from pathlib import Path

import pytest

from tests.adapters.custom_cases import entry_points_of, put_module
from tests.engine.cases import case
from verification.adapters.custom import InstalledVerifiers
from verification.engine.fakes import MemoryWorkspace
from verification.engine.judges.asking import CustomAnswer

SAYS = "def verify(submission):\n    return {!r}\n"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which packages are installed, for this process and its children."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


def call(verifiers: InstalledVerifiers, name: str) -> CustomAnswer:
    return verifiers.call(name, case(custom_verifier=name), MemoryWorkspace())


def test_packages_bring_verifiers_as_entry_points(installed: Path) -> None:
    put_module(installed, "shop.checks", SAYS.format("checked"))
    entry_points_of(installed, "shop", {"totals": "shop.checks:verify"})

    verifiers = InstalledVerifiers()

    assert set(verifiers.names()) == {"totals"}
    assert call(verifiers, "totals").result == "checked"


def test_the_operators_list_stands_above_what_packages_bring(installed: Path) -> None:
    put_module(installed, "shop", SAYS.format("theirs"))
    put_module(installed, "ours", SAYS.format("ours"))
    entry_points_of(installed, "shop", {"totals": "shop:verify"})

    verifiers = InstalledVerifiers({"totals": "ours:verify"})

    assert set(verifiers.names()) == {"totals"}
    assert call(verifiers, "totals").result == "ours"


def test_a_name_that_two_packages_bring_is_nobodys(installed: Path) -> None:
    for package in ("shop", "store"):
        put_module(installed, package, SAYS.format(package))
        entry_points_of(installed, package, {"totals": f"{package}:verify"})

    answer = call(InstalledVerifiers(), "totals")

    assert answer.status == "error"
    assert answer.message == (
        "The verifier totals means shop:verify, store:verify: name one in LOOMVERIFY_VERIFIERS."
    )


def test_the_same_package_twice_on_the_path_is_one(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = installed / "again"
    again.mkdir()
    monkeypatch.syspath_prepend(str(again))
    put_module(installed, "shop", SAYS.format("checked"))
    for folder in (installed, again):
        entry_points_of(folder, "shop", {"totals": "shop:verify"})

    assert call(InstalledVerifiers(), "totals").result == "checked"


def test_a_package_that_is_broken_breaks_its_own_verifier_alone(installed: Path) -> None:
    put_module(installed, "shop", "raise RuntimeError('half installed')")
    put_module(installed, "ours", SAYS.format("ours"))
    entry_points_of(installed, "shop", {"totals": "shop:verify"})
    verifiers = InstalledVerifiers({"prices": "ours:verify"})

    broken, sound = (call(verifiers, name) for name in ("totals", "prices"))

    assert (broken.status, sound.status) == ("error", "passed")
    assert broken.message == "The verifier totals broke: RuntimeError: half installed"


def test_a_module_that_rejects_when_it_is_loaded_has_looked_at_nothing(installed: Path) -> None:
    source = "from loomverify.custom import VerificationRejected\nraise VerificationRejected('x')"
    put_module(installed, "hasty", source)

    answer = call(InstalledVerifiers({"totals": "hasty:verify"}), "totals")

    assert answer.status == "error"
