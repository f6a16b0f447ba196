"""Count the totals of ``recbias claims --reproduced`` and of the scorecard from their document.

recbias claims --json > claims.json && python recount.py claims.json ml-1m
"""

import json
import sys
from collections import Counter

WRITTEN = ("before any value", "after pilot values")


def recount(document, dataset):
    """Count by table, row and column: verdicts on a data set, and where claims are at home."""
    counts = Counter()
    for claim in document["claims"]:
        chapter, found, answers = claim["chapter"], claim["verdicts"][dataset], claim["answers"]
        group = claim["class"] if claim["assertions"] else "no assertion of a paper"
        home = "hangs on no data" if claim["assertions"] and answers["no data"] else group
        counts["reproduced", home, answers["reproduced"]] += 1
        counts["criteria", home, WRITTEN[claim["pilot seen"]]] += claim["criterion"] is not None
        counts["verdict", group, found["verdict"]] += 1
        counts["strict", group, found["strict"]] += 1
        counts["claims" if claim["assertions"] else "apart", chapter, "all"] += 1
        if claim["assertions"]:
            for row in (chapter, claim["paper"]):
                counts["reproduced", row, answers["reproduced"]] += home == "empirical"
        for assertion in claim["assertions"]:
            counts["assertions", chapter, assertion["standing"]] += 1
    return +counts


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        for (table, row, column), n in sorted(recount(json.load(file), sys.argv[2]).items()):
            print(table, row, column, n, sep="\t")
