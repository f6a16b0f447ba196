"""A lock cannot forget: what was ever locked on the way to here still is, or is named below."""

import json
import shutil
import subprocess

from recbias.claims.lock import lock_file
from recbias.experiment.store import digest

ROOT = lock_file().parents[3]
LOCK = lock_file().relative_to(ROOT)

LOST = {
    "while no result by them was recorded (2026-11-21)": [
        "BCC17-F2A 5dcab1ce", "BCC17-F2C 01c5c045",
    ],
    "for 33 minutes, with results on record, until reviewers objected (2026-11-22)": [
        "BCC17-C-MAX1R 7822b84d", "BCC17-C-RANGE 5722e5fb", "BCC17-C-SIG 2a037f27",
        "BCC17-C-TIAI 48964bfc", "BCC17-F2C ec0bb2b4", "BCC17-L1-PROOF 9faa4550",
    ],
    "for 30 minutes or less, in the session that wrote them (2026-11-22 and -23)": [
        "MCCRS20-C-MAR 607ecbc0", "MCCRS20-C-WHICH 04223502", "BCC17-C-ALLPOS 7c1bda89",
        "CCM20-EQ-RED e3138ca9", "CCM20-F6R 6f09e93b",
    ],
    "for 47 and 8 minutes, in the session that wrote them (2026-11-26)": [
        "BCC17-C-1RCOMP 4dac3daf", "CCM20-C-FORGIVE 633ac3c6",
    ],
    "on a branch only, in the session that wrote them (2026-11-22 and -26)": [
        "MCCRS20-C-FLIP 3e95ff4d", "MCCRS20-C2 7538459c", "BCC17-C-1RCOMP 4d34a8a1",
    ],
}  # fmt: skip
"""Criteria in force for a while that no entry under ``replaced`` quotes, by claim and digest."""


TRANSLATED = "13a65809803583bbcc60a6f3bf675c86d96c27197fc259528900e77fe9852003"
"""Of 205 criteria, whose old and new forms gave the same on all recorded data."""


def forgotten(then, now):
    """List what was locked then and is not now."""
    kept = {
        (claim, digest)
        for claim, entries in now.items()
        for entry in entries
        for digest in (
            [entry] if isinstance(entry, str) else [entry["digest"], entry["translates"]]
        )
    }
    return {
        f"{claim} {digest[:8]}"
        for claim, entries in then.items()
        for digest in (entry if isinstance(entry, str) else entry["digest"] for entry in entries)
        if (claim, digest) not in kept
    }


def locks_of_history():
    """Read the lock at each commit that changed it; none where there is no history."""

    def git(*arguments):
        command = [
            shutil.which("git") or "git",
            "-c",
            "safe.directory=*",
            "-C",
            str(ROOT),
            *arguments,
        ]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    if not (ROOT / ".git").exists():
        return []
    commits = git("log", "--format=%H", "--", str(LOCK)).split()
    return [json.loads(git("show", f"{commit}:{LOCK}")) for commit in commits]


def test_what_was_locked_stays_locked():
    now = json.loads(lock_file().read_text())
    lost = set().union(*(forgotten(then, now) for then in locks_of_history()))
    assert lost <= {each for listed in LOST.values() for each in listed}


def test_nothing_is_translated_any_more():
    # It was done once, in November 2026, comparing old and new forms part by part; another entry
    # that says so would be a change that nobody has to quote.
    locks = json.loads(lock_file().read_text())
    assert digest(translated(locks)) == TRANSLATED
    changed = {**locks, "A": [{"digest": "5" * 64, "translates": "6" * 64}]}
    assert digest(translated(changed)) != TRANSLATED


def translated(locks):
    """List what stands in the place of a criterion in another form."""
    return [
        [claim, entry["digest"], entry["translates"]]
        for claim, entries in sorted(locks.items())
        for entry in entries
        if not isinstance(entry, str)
    ]


def test_an_entry_deleted_with_its_quote_is_missed():
    then = {"A": ["1" * 64, {"digest": "2" * 64, "translates": "3" * 64}], "B": ["4" * 64]}
    assert not forgotten(then, {**then, "B": ["4" * 64, "5" * 64]})
    assert forgotten(then, {**then, "A": ["6" * 64]}) == {"A 11111111", "A 22222222"}
    assert forgotten(then, {"A": then["A"]}) == {"B 44444444"}
