"""The operator's copy of known vulnerabilities, by ecosystem. Source: docs/advisories.md."""
