"""Who is asked before a verifier version judges runs: rooms above register here."""

from __future__ import annotations

from loomverify.guarding import Guards
from verification.verifiers.models import VerifierVersion

ACTIVATING: Guards[VerifierVersion] = Guards()
