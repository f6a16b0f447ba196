"""Count the totals of ``recbias claims --reproduced`` and of the scorecard from their document.

recbias claims --json > claims.json && python recount.py claims.json ml-1m

Only the document of all data sets has totals: what is reproduced hangs on several of them.
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
        counts["by all parts", home, answers["strict"]] += answers["reproduced"] == "yes"
        when, is_judged = WRITTEN[claim["pilot seen"]], claim["criterion"] is not None
        counts["criteria", home, when] += is_judged
        counts["written", when, answers["reproduced"]] += is_judged and home == "empirical"
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
    if len(sys.argv) != 3:
        sys.exit("usage: python recount.py claims.json DATASET, such as ml-1m")
    with open(sys.argv[1], encoding="utf-8") as file:
        document = json.load(file)
    if not all("answers" in claim for claim in document["claims"]):
        sys.exit("A document of one data set has no totals: write it without --dataset.")
    if sys.argv[2] not in (names := [each["name"] for each in document["datasets"]]):
        sys.exit(f"No data set {sys.argv[2]!r} in the document; it has {', '.join(names)}.")
    for (table, row, column), n in sorted(recount(document, sys.argv[2]).items()):
        print(table, row, column, n, sep="\t")
