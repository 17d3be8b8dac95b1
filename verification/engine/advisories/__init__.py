"""What lock files name, and which known vulnerabilities touch it. Source: docs/advisories.md."""
