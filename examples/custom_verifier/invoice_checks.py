"""A custom verifier: an invoice adds up, and holds what was ordered."""

from __future__ import annotations

import csv
import logging
from decimal import Decimal

from pydantic import BaseModel, Field

from loomverify.custom import FatalVerificationError, Task, VerificationRejected, Workspace

ORDER = "order.csv"


class Line(BaseModel):
    article: str
    count: int = Field(gt=0)
    price: Decimal = Field(ge=0)

    @property
    def amount(self) -> Decimal:
        return self.count * self.price


class Invoice(BaseModel):
    number: str
    lines: list[Line] = Field(min_length=1)
    total: Decimal


class Checked(BaseModel):
    """What the run keeps as its result."""

    task: str
    invoice: str
    total: Decimal


def check_totals(
    invoice: Invoice, workspace: Workspace, task: Task, logger: logging.Logger
) -> Checked:
    ordered = read_order(workspace)
    for article, count, line in ordered:
        invoiced = sum(one.count for one in invoice.lines if one.article == article)
        if invoiced != count:
            raise VerificationRejected(
                f"{article}: {count} were ordered, {invoiced} are on the invoice.",
                code="not_as_ordered",
                metadata={"path": ORDER, "line": line, "suggestion": "Invoice what was ordered."},
            )
    total = sum((one.amount for one in invoice.lines), Decimal(0))
    if total != invoice.total:
        raise VerificationRejected(
            f"The lines come to {total}, the invoice says {invoice.total}.",
            code="wrong_total",
            metadata={"expected": total},
        )
    logger.info("%d lines come to %s", len(invoice.lines), total)
    return Checked(task=task.id, invoice=invoice.number, total=total)


def read_order(workspace: Workspace) -> list[tuple[str, int, int]]:
    """Article, count, and line in the file.

    A file that does not read is no fault of the invoice: the error that it causes leaves the
    run undecided.
    """
    rows = csv.DictReader(workspace.read_text(ORDER).splitlines())
    ordered = [(row["article"], int(row["count"]), rows.line_num) for row in rows]
    if not ordered:
        raise FatalVerificationError("The order is empty: no invoice can be right.")
    return ordered
