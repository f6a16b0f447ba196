"""Click through every combination of every explorer, and compare what is seen with the results.

    python tests/site/check_explorer.py SITE_FOLDER

Results are those of the key that the page names: recorded ones, or those of the last live run.
Order, numbers, lengths of bars and tau are computed here anew, by other code than the page's.
Exit 1 on a difference, on a combination that shows neither bars nor a reason, and on a page that
shows no plain table without scripts. Needs what `offline_check.py` needs.
"""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import sys
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, sync_playwright
from scipy.stats import kendalltau

from recbias.claims import load_chapter
from recbias.experiment import Results

PAGES = ("notebooks/01_design_alternatives.html", "on/*/notebooks/01_design_alternatives.html")
HALF = 5.0001e-5
"""Numbers are shown with four decimals."""


def results_of(document: dict, chapter: str) -> Results:
    """Find the results that a page says it draws."""
    for found in load_chapter(chapter, document["dataset"]).values():
        if found.key == document["key"] and isinstance(found, Results):
            return found
    raise SystemExit(f"no results of {document['dataset']} have the key {document['key'][:12]}")


def check_state(explorer: Locator, state: dict, start: dict, results: Results) -> list[str]:
    """Compare what one combination shows with the results; give the faults."""
    faults = []
    shown = explorer.evaluate(
        """root => ({
          rows: [...root.querySelectorAll(".explorer-bars li")].map(row => ({
            name: row.querySelector(".explorer-name").textContent,
            value: Number(row.querySelector(".explorer-value").textContent),
            bar: row.querySelector(".explorer-bar").getBoundingClientRect().width,
            from: row.querySelector(".explorer-bar").getBoundingClientRect().left,
            lines: ["expected", "ceiling"].map(line => {
              const box = row.querySelector(`.explorer-track .explorer-${line}`);
              return box.offsetParent ? box.getBoundingClientRect().left : null;
            }),
          })),
          said: root.querySelector(".explorer-said").textContent,
          tau: root.querySelector(".explorer-tau").textContent,
          key: root.querySelector(".explorer-key").textContent,
          drawn: root.querySelector(".explorer-bars").getBoundingClientRect().height > 0,
        })"""
    )
    if not shown["drawn"]:
        return ["no bars are drawn"]
    label, metric = state["label"], state["metric"]
    values = {name: results[name, label, metric].value for name in results.systems}
    rows = {row["name"]: row for row in shown["rows"]}
    if set(rows) != set(values):
        return [f"systems {sorted(rows)}"]
    order = [values[row["name"]] for row in shown["rows"]]
    if order != sorted(order, reverse=True):
        faults.append("the order is not that of the values")
    longest = max(rows.values(), key=lambda row: row["bar"])
    per_unit = longest["bar"] / values[longest["name"]]
    for name, row in rows.items():
        if abs(row["value"] - values[name]) > HALF:
            faults.append(f"{name}: {row['value']} for {values[name]:.6f}")
        if abs(row["bar"] - per_unit * values[name]) > 1:
            faults.append(f"{name}: a bar of {row['bar']:.1f} px")
    first = [results[name, start["label"], start["metric"]].value for name in results.systems]
    tau = kendalltau(list(values.values()), first).statistic
    if abs(float(shown["tau"]) - tau) > 0.0051:
        faults.append(f"tau {shown['tau']} for {tau:.4f}")
    given = label.split("-")[-1] == "1R"
    cutoff = int(metric.partition("|")[0].partition("@")[2])
    chance = next((m for m in results.grid.by_label[label] if m.startswith("rho")), None)
    wanted = {
        "expected": results["Random", label, chance].value if chance else None,
        "ceiling": 1 / cutoff if given else None,
    }
    for place, (line, number) in enumerate(wanted.items()):
        seen = shown["rows"][0]["lines"][place]
        if number is None:
            if seen is not None:
                faults.append(f"{line}: a line for nothing")
            continue
        if f": {number:.4f}" not in shown["key"]:
            faults.append(f"{line}: {number:.4f} is not in the key")
        if seen is not None and abs(seen - longest["from"] - per_unit * number) > 2.5:
            faults.append(f"{line}: a line at {seen:.1f} px")
        if (seen is None) != ("beyond the end" in shown["key"]) and line == "ceiling":
            faults.append("ceiling: neither drawn nor said to be beyond the scale")
    if state["code"] not in shown["said"]:
        faults.append("the protocol is not named")
    return faults


def check_explorer(page: Page, explorer: Locator, chapter: str) -> tuple[list[str], int]:
    """Try every combination, with both kinds of scale; give the faults and how many there are."""
    document = explorer.evaluate("root => JSON.parse(root.querySelector('script').textContent)")
    results = results_of(document, chapter)
    start, faults = document["states"][document["start"]], []
    groups = explorer.evaluate(
        """root => [...root.querySelectorAll("fieldset")].map(set =>
          [...set.querySelectorAll("input[type=radio]")].map(input => input.value)
        ).filter(values => values.length)"""
    )
    combinations = list(itertools.product(*groups))
    if {"|".join(codes) for codes in combinations} != set(document["states"]):
        faults.append("the buttons do not give the states")
    for one_scale, codes in itertools.product((True, False), combinations):
        explorer.evaluate(
            """(root, [one, codes]) => {
              const box = root.querySelector("[name=one-scale]");
              if (box.checked !== one) box.click();
              const sets = [...root.querySelectorAll("fieldset")];
              codes.forEach((code, n) => [...sets[n].querySelectorAll("input")]
                .find(input => input.value === code).click());
            }""",
            [one_scale, codes],
        )
        state, name = document["states"].get("|".join(codes), {}), " ".join(codes)
        if "why" in state:
            told = explorer.locator(".explorer-said").inner_text()
            drawn = explorer.locator(".explorer-bars").is_visible()
            if drawn or state["why"] not in told:
                faults.append(f"{name}: no reason is given")
        elif state:
            found = check_state(explorer, state, start, results)
            faults += [f"{name}: {fault}" for fault in found]
    return faults, len(combinations)


def check_page(browser: Browser, path: Path, chapter: str) -> tuple[list[str], int]:
    """Check the explorers of a page, with scripts and without."""
    context = browser.new_context(reduced_motion="reduce", viewport={"width": 1400, "height": 900})
    page, faults, tried = context.new_page(), [], 0
    page.goto(path.as_uri())
    explorers = page.locator(".explorer").all()
    if not explorers:
        faults.append("no explorer")
    for explorer in explorers:
        found, number = check_explorer(page, explorer, chapter)
        faults, tried = faults + found, tried + number
    context.close()
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    for explorer in page.locator(".explorer").all():
        if explorer.locator("form").is_visible():
            faults.append("without scripts there are buttons that do nothing")
        if not explorer.locator("table").first.is_visible():
            faults.append("without scripts there is no table")
    context.close()
    return faults, tried


def main() -> int:
    """Check the site named on the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("site", type=Path)
    site = parser.parse_args().site.resolve()
    pages = sorted(page for pattern in PAGES for page in site.glob(pattern))
    if not pages:
        sys.exit(f"no chapter 1 under {site}")
    n_faults = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM") or shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        for path in pages:
            faults, tried = check_page(browser, path, path.stem)
            print("\n".join(f"{path.relative_to(site)}: {fault}" for fault in faults))
            print(f"{path.relative_to(site)}: {tried} combinations, {len(faults)} faults")
            n_faults += len(faults)
        browser.close()
    return int(n_faults > 0)


if __name__ == "__main__":
    sys.exit(main())
