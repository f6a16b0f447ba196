"""Whether "A beats B" holds on a reader's own data: one comparison, judged.

Begin with `audit`. The `rule` was fixed before its first result; `design` puts the defensible
designs around the reader's own, `comparison` measures some of them in full, `signals` warns,
`ledger` asks what claims of papers say where a room above knows any, and `page` writes what was
found.
"""

from recbias.audit.auditing import Audit, audit, read_audit
from recbias.audit.page import side_by_side

__all__ = ["Audit", "audit", "read_audit", "side_by_side"]
