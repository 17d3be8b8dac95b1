"""Plans as agents write them."""

ARCHITECTS_PLAN = """\
Install Commands:
```bash
pip install -r requirements.txt
```

Test Commands:
```bash
pytest -x --tb=short

"""
