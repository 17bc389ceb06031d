"""A Report as JSON, for programs: every finding on its own, nothing grouped."""

from __future__ import annotations

import json
from collections.abc import Mapping

from rocefort.models.finding import Report, Severity

REPORT_FORMAT = 1


def as_json(report: Report, beside: Mapping[str, object] | None = None) -> str:
    """The report in JSON, ending in a newline; same report, same bytes.

    beside: more to tell, by name, as values that JSON has.
    """
    content = {
        "format": REPORT_FORMAT,
        "failed": report.failed,
        "summary": {
            **{s.value: sum(f.severity is s for f in report.findings) for s in Severity},
            "not_judged": len(report.not_judged),
            "waived": len(report.waived),
        },
        **report.model_dump(mode="json"),
        **(beside or {}),
    }
    return json.dumps(content, indent=2) + "\n"
