"""The page of an audit: one file that needs nothing else, from its record alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import urlsplit

from recbias.audit.rule import SHARE, rule_said
from recbias.audit.words import decision_said, number_said, option_said, turning_said, users_said
from recbias.data.ratings import exact
from recbias.errors import ConfigError
from recbias.experiment.options import Options
from recbias.experiment.typesetting import latex_text
from recbias.multiverse.universes import N_FLIPS

__all__ = [
    "COMPARED",
    "check_book",
    "compared",
    "compared_cells",
    "page_of",
    "percent",
    "side_by_side",
]

_SIGNS = {"holds": "✓", "does not hold": "✗", "open": "?"}
_SHOWN_SIGNALS = 3

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de;
  --paper: #fff; --band: #f3f5f7; --a: #0b5cad; --b: #b35c00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9da7b1; --line: #3d444d;
  --paper: #14181d; --band: #1f252c; --a: #6cb0ff; --b: #f0a95b; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 68rem; padding: 1rem; color: var(--ink);
  background: var(--paper); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin-top: 2.2rem; border-top: 1px solid var(--line);
  padding-top: .8rem; }
.answer { font-weight: 700; border: 2px solid currentColor; border-radius: .4rem;
  padding: 0 .4em; white-space: nowrap; }
.holds { color: var(--a); } .does-not-hold { color: var(--b); } .open { color: var(--soft); }
.soft { color: var(--soft); }
p, li { overflow-wrap: anywhere; }
.wide { overflow-x: auto; position: relative;
  background: linear-gradient(to right, var(--paper) 30%, transparent) 0 0 / 2.5rem 100% local,
    linear-gradient(to left, var(--paper) 30%, transparent) 100% 0 / 2.5rem 100% local,
    linear-gradient(to right, #80808090, transparent) 0 0 / .9rem 100% scroll,
    linear-gradient(to left, #80808090, transparent) 100% 0 / .9rem 100% scroll;
  background-repeat: no-repeat; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
td:first-child { min-width: 9rem; } td.text { min-width: 14rem; }
th { font-weight: 600; } td.n { white-space: nowrap; }
.bar { background: var(--band); height: .8rem; min-width: 5rem; position: relative; }
.bar i { background: var(--a); position: absolute; inset: 0 auto 0 0; }
.bar b { position: absolute; left: 50%; top: -.1rem; bottom: -.1rem; width: 1px;
  background: var(--ink); }
svg { width: 100%; height: auto; display: block; }
pre { background: var(--band); padding: .6rem; overflow-x: auto; white-space: pre-wrap;
  overflow-wrap: anywhere; }
summary { cursor: pointer; }
@media screen and (max-width: 30rem) { td.n { white-space: normal; min-width: 5rem; }
  table { font-size: .85rem; } th, td { padding-right: .5rem; }
  td:first-child { min-width: 6rem; } }
@media print { :root { color-scheme: light; --ink: #000; --soft: #444; --line: #bbb;
  --paper: #fff; --band: #f3f5f7; --a: #0b5cad; --b: #b35c00; }
  body { max-width: none; font-size: 10pt; } h2 { break-after: avoid; }
  .wide { overflow: visible; background: none; } table { font-size: 8pt; }
  th { hyphens: auto; overflow-wrap: break-word; }
  th, td { padding-right: .4rem; } td:first-child, td.text { min-width: 0; }
  td.n { white-space: normal; } tr, svg { break-inside: avoid; }
  details::details-content { content-visibility: visible; display: block; } }
"""


def page_of(record: Mapping[str, Any]) -> str:
    """Write the page of an audit.

    Parameters
    ----------
    record
        As :attr:`recbias.audit.Audit.record`; names in it are text, whatever they look like.
    """
    sentence = record["sentence"]
    title = _title(record)
    parts = [_first(record), _designs(record), _multiverse(record), _samples(record)]
    parts += [_seeds(record), _over_whom(record), _users(record), _hidden(record)]
    parts += [_signals(record), _ledger(record), _data(record), _worlds(record), _methods(record)]
    return _whole(f"{title}: {sentence['answer']}", filter(None, parts))


COMPARED = (
    "sentence", "answer", "lead, 95 % interval", "designs", "won", "lost", "changes that turn it",
    "warnings",
)  # fmt: skip
"""Heads of the columns in which audits stand side by side."""


def compared(record: Mapping[str, Any]) -> dict[str, Any]:
    """Give what one row of audits side by side says, of the record of one: no user, no item.

    Returns
    -------
    dict
        ``a``, ``b``, ``data``, ``design`` and ``answer`` as text; ``lead`` with the ends ``low``
        and ``high`` of its interval; how many ``designs`` there are, and the shares ``won`` and
        ``lost``; ``changes`` that turn the winner (None: none do); ``warnings``, joined.
    """
    sentence, found = record["sentence"], record["multiverse"]
    shares = found["shares"]["decisions"]
    fired = [signal["name"] for signal in record["signals"] if signal["fires"]]
    return {
        "a": sentence["a"],
        "b": sentence["b"],
        "data": record["data"]["title"],
        "design": sentence.get("design", ""),
        "answer": sentence["answer"],
        **{name: record["own"]["lead"][name] for name in ("lead", "low", "high")},
        "designs": found["universes"],
        "won": shares["wins"],
        "lost": shares["loses"],
        "changes": found["changes"],
        "warnings": "; ".join(fired),
    }


def compared_cells(row: Mapping[str, Any]) -> list[str]:
    """Write a row of `compared` under the heads `COMPARED`, in HTML."""
    changes = row["changes"]
    return [
        f"{escape(row['a'])} beats {escape(row['b'])}<br>"
        f"<span class='soft'>{escape(row['data'])}. {escape(row['design'])}</span>",
        _badge(row["answer"]),
        _lead(row),
        f"{row['designs']:,}",
        percent(row["won"]),
        percent(row["lost"]),
        "–" if changes is None else f"{changes:.0f}",
        escape(row["warnings"]) or "none",
    ]


def side_by_side(records: Sequence[Mapping[str, Any]]) -> str:
    """Write one page of several audits: what each says, and what it rests on."""
    table = _table(COMPARED, [compared_cells(compared(record)) for record in records])
    rule = escape(rule_said("A", "B"))
    return _whole(
        "Audits side by side",
        ["<h1>Audits side by side</h1>", table, f"<p class='soft'>{rule}</p>"],
    )


def _badge(answer: str) -> str:
    kind = answer.replace(" ", "-")
    return f'<span class="answer {kind}">{_SIGNS[answer]} {escape(answer)}</span>'


def _whole(title: str, parts: Iterable[str]) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(parts)
        + "\n</main>\n</body>\n</html>\n"
    )


def _first(record: Mapping[str, Any]) -> str:
    sentence, said = record["sentence"], record["data"]["said"]
    fired = [signal for signal in record["signals"] if signal["fires"]]
    lines = [f"<li><strong>{escape(s['name'])}</strong>: {escape(s['evidence'])}</li>"
             for s in fired[:_SHOWN_SIGNALS]]  # fmt: skip
    more = len(fired) - _SHOWN_SIGNALS
    if more > 0:
        lines.append(f'<li><a href="#warnings">and {more} more</a></li>')
    warned = f"<p>Warnings:</p><ul>{''.join(lines)}</ul>" if lines else (
        '<p><a href="#warnings">None of the warnings</a> fires; each sees only what it looks '
        "for.</p>"
    )  # fmt: skip
    return (
        f"<h1>{escape(_title(record))} {_badge(sentence['answer'])}</h1>\n"
        f"{_lines(sentence, [signal['name'] for signal in fired])}\n{warned}\n{_own_design(record)}"
        f'<p class="soft">{escape(record["data"]["title"])}: {escape(said["size"])}.</p>\n'
        f"<details><summary>The rule, fixed before any result</summary>"
        f"<p>{escape(sentence['rule'])} Fixed is the rule alone: table, seed and your design are "
        "the choice of who ran this.</p></details>"
    )


def _lines(sentence: Mapping[str, Any], names: Sequence[str]) -> str:
    """Put the answer and names of warnings first, and what it rests on below.

    Records of before have one piece.
    """
    first, *rest = sentence.get("lines", [sentence["paragraph"]])
    text = f"<p><strong>{escape(first)}</strong></p>" if rest else f"<p>{escape(first)}</p>"
    if names:
        text += f"<p>Warned of: <a href='#warnings'>{escape('; '.join(names))}</a>.</p>"
    listed = "".join(f"<li>{escape(line)}</li>" for line in rest)
    return text + (f"<ul>{listed}</ul>" if listed else "")


def _title(record: Mapping[str, Any]) -> str:
    """Say what was compared: a rival that the audit chose is named as what it is."""
    title = f"{record['sentence']['a']} beats {record['sentence']['b']}"
    if baselines := record.get("baselines"):
        title += f", the best of {len(baselines)} baselines"
    return title


def _own_design(record: Mapping[str, Any]) -> str:
    """Say what "your design" and the rival are; records of before do not have it."""
    sentence = record["sentence"]
    said = sentence.get("design", "")
    more = f" {escape(sentence['averaged'])}." if sentence.get("averaged") else ""
    text = f"<p class='soft'>Your design: {escape(said)}.{more}</p>\n" if said else ""
    if systems := sentence.get("systems"):
        text += f"<p class='soft'>{'<br>'.join(map(escape, systems))}</p>\n"
    if baselines := record.get("baselines"):
        text += (
            f"<p>{escape(record['sentence']['b'])} is the best of {len(baselines)} baselines, "
            "chosen on the test.</p>\n"
        )
    return text


def _designs(record: Mapping[str, Any]) -> str:
    names = [record["sentence"]["a"], record["sentence"]["b"]]
    known = [row for row in record["designs"] if "values" in row]
    systems = list(dict.fromkeys(name for row in known for name in row["values"]))
    rows = []
    for row in record["designs"]:
        better = "more is better" if row["more is better"] else (
            "less is better: a lead above 0 means fewer"
        )  # fmt: skip
        split = f", split {escape(row['split'])}" if row.get("split") else ""
        measured = f"<span class='soft'>{escape(row['metric'])}{split}, {better}</span>"
        said = f"{escape(row['design'])}<br>{measured}"
        if "reason" in row:
            rows.append([said, f"not on these data: {escape(row['reason'])}"])
            continue
        values = row["values"]
        numbers = (_number(values[name][0]) if name in values else "" for name in systems)
        rows.append([said + _warned_of(record, row["design"]), _lead(row["lead"]), *numbers])
    best = record["designs"][0].get("optimum")
    note = "" if best is None else (
        "<p>The best ranking that is the same for everybody, made of the likes of the test "
        f"itself, reaches {_number(best)} under your design.</p>"
    )  # fmt: skip
    note += (
        "<p class='soft'>Beside them: Random; Popularity, by the number of ratings in training; "
        "Positive counts, by the number of likes there. Each pair of user and item counts once.</p>"
    )
    note += _baselines(record)
    return (
        "<h2>Your design, and others</h2>\n"
        f"<p>Where the interval of the lead lies above 0, {escape(names[0])} is better.</p>"
        + _table(["design", "lead, 95 % interval", *systems], rows)
        + note
    )


def _warned_of(record: Mapping[str, Any], words: str) -> str:
    """Repeat, where its numbers stand, what reading a design warned of."""
    told = [text.removeprefix(f"{words}: ") for text in record["data"]["warned"]
            if text.startswith(f"{words}: ")]  # fmt: skip
    return "".join(f"<br><span class='soft'>! {escape(text)}</span>" for text in told)


def _baselines(record: Mapping[str, Any]) -> str:
    """List the baselines, the best first, and how far A is ahead of each."""
    if not (values := record.get("baselines")):
        return ""
    sentence = record["sentence"]
    rows = [
        [escape(row["baseline"]), _number(row["value"]), _lead(row),
         "–" if row["p_holm"] is None else _p(row["p_holm"])]
        for row in record.get("against", ())
    ]  # fmt: skip
    head = ["baseline, the best first", "value", f"lead of {sentence['a']}, 95 % interval",
            f"p, corrected for {len(rows)} (Holm)"]  # fmt: skip
    rows += [[escape(name), "cannot be trained here"] for name, each in values.items()
             if each is None]  # fmt: skip
    return (
        f"<p>{escape(sentence['b'])} is the best of the package's baselines, chosen on the test, "
        "so that chance helps it.</p>" + _table(head, rows)
    )


def _multiverse(record: Mapping[str, Any]) -> str:
    found, names = record["multiverse"], [record["sentence"]["a"], record["sentence"]["b"]]
    shares = found["shares"]
    rows = [
        [words, *(percent(shares[key][column]) for column in ("wins", "surely wins", "ties",
                                                               "loses", "surely loses"))]
        for key, words in (("decisions", "each decision's options alike"),
                           ("universes", "each design alike"))
    ]  # fmt: skip
    decisive = [
        [escape(decision_said(decision)), percent(effect)]
        for decision, effect in sorted(found["importance"].items(), key=lambda row: -(row[1] or 0))
        if effect and effect >= 0.01
    ]
    options = [
        [escape(decision_said(decision)), escape(_option(decision, option)),
         "" if share is None else _bar(share),
         percent(share)]
        for decision, by_option in found["by option"].items()
        for option, share in by_option.items()
    ]  # fmt: skip
    flips = found["flips said"]
    listed = "".join(f"<li>{escape(flip)}</li>" for flip in flips[:12])
    more = f"<li>and {len(flips) - 12} more</li>" if len(flips) > 12 else ""
    told = turning_said(names, found) if "ahead" in found else []
    turning = f"<p>{escape(' '.join(told))}</p>" if told else ""
    if len(flips) > 1:
        turning += (
            f"<p>What puts the other ahead with {found['changes']} "
            f"change{'s' * (found['changes'] != 1)}:</p><ul>{listed}{more}</ul>"
        )
    refused = "".join(
        f"<li>{escape(row['reason'])} ({row['combinations']:,})</li>" for row in found["refused"]
    )
    return (
        f"<h2>All {found['universes']:,} designs</h2>\n"
        f"{_different(found)}"
        + _curve(found["curve"], names)
        + _table(
            ["share of designs in which " + names[0], "wins", "surely", "ties", "loses", "surely"],
            rows,
        )
        + "<p class='soft'>The verdict takes the first line: there each option of a decision "
        "counts the same, and in the second one that is part of more designs counts more. Surely: "
        "p below 0.05 in the design's own test. Intervals of designs are of users drawn "
        "again, that of your own lead is of its test.</p>"
        + turning
        + _together(found["joint p"])
        + _fold(
            "How often each option lets " + names[0] + " win",
            "<p>Of the designs with an option, weighing as in the verdict; the others are lost or "
            "ties.</p>" + _table(["decision", "option", "", "wins"], options),
        )
        + _fold(
            "Which decisions decide",
            "<p>Shares of what turns the sign (Shapley effects).</p>"
            + _table(["decision", "share"], decisive)
            if decisive
            else "<p>Among the options that can all be combined, no decision turns the sign."
            f"{'' if found['changes'] is None else ' What turns it is one that cannot.'}</p>",
        )
        + _fold("What is known of the truth", f"<pre>{escape(_trusted(found, names))}</pre>")
        + _only_tie(found.get("only tie", ()))
        + (_fold("Combinations that cannot be", f"<ul>{refused}</ul>") if refused else "")
    )


def _only_tie(left_out: Sequence[str]) -> str:
    if not left_out:
        return ""
    listed = "".join(f"<li>{escape(each)}</li>" for each in left_out)
    return (
        "<p>Every rating of these data is a like, so that nobody can win under these options, "
        "but by items without a score. They are left out:</p>"
        f"<ul>{listed}</ul>"
    )


def _trusted(found: Mapping[str, Any], names: Sequence[str]) -> str:
    text = str(found["trust"]["text"])
    for place, name in zip(("first", "second"), names, strict=True):
        text = text.replace(f"the {place} wins:", f"{name} wins:")
    return text


def _different(found: Mapping[str, Any]) -> str:
    """Say how many leads there are: a test over users cannot change one, records may lack it."""
    if "different" not in found:
        return ""
    return (
        f"<p>They have {found['different']:,} different lead"
        f"{'s' * (found['different'] != 1)}: some options change nothing here, as another test, or "
        "what becomes of items without a score where all have one.</p>"
    )


def _together(p: float | None) -> str:
    if p is None:
        return ""
    return (
        "<p>If, user by user, chance said which of the two is which, a mean lead over all designs "
        f"that is as far from 0 would come up with probability {_floored(p)}. That asks whether "
        "there is any difference at all, over all designs together; the verdict asks whether the "
        "designs agree on who is better, and can be open beside a small probability.</p>"
    )


def _floored(p: float) -> str:
    """Write a p of exchanges, of which none can be below what the identity alone leaves."""
    least = 1 / (N_FLIPS + 1)
    return f"{least:.3f} or less" if p <= least * (1 + 1e-9) else f"{p:.3f}"


def _curve(points: Sequence[float], names: Sequence[str]) -> str:
    if not points:
        return ""
    width, height, edge = 760, 220, 12
    most = max(max(map(abs, points)), 1e-9)

    def x(place: int) -> float:
        return edge + (width - 2 * edge) * place / max(len(points) - 1, 1)

    def y(value: float) -> float:
        return height / 2 - (height / 2 - 24) * value / most

    line = " ".join(f"{x(place):.1f},{y(value):.1f}" for place, value in enumerate(points))
    says = f"Designs from the worst for {names[0]} to the best; above the line it is ahead"
    return (
        f'<div class="soft">{escape(names[0])} ahead</div>'
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(says)}">'
        f'<line x1="0" x2="{width}" y1="{height / 2}" y2="{height / 2}" stroke="currentColor" '
        'stroke-width="1"/>'
        f'<polyline points="{line}" fill="none" stroke="var(--a)" stroke-width="3"/>'
        "</svg>"
        f'<div class="soft">{escape(names[1])} ahead</div>'
        f'<p class="soft">{escape(says)}, in standard deviations of users\' differences '
        f"(up to {most:.2f}).</p>"
    )


def _samples(record: Mapping[str, Any]) -> str:
    rows = record["samples"]["rows"]
    if len(rows) < 2:  # all items alone: there are too few for samples
        return ""
    names = list(rows[0]["values"])
    enough = record["samples"]["enough"]
    whole, (a, b) = rows[0]["lead"], (record["sentence"]["a"], record["sentence"]["b"])
    if not whole["lead"]:
        said = "Among all items nobody wins."
    elif whole["low"] is None or whole["low"] <= 0 <= whole["high"]:
        said = "Among all items nobody wins surely."
    elif enough is None:
        said = "No sample of these sizes gives the winner of all items."
    else:
        said = f"In samples of {enough:,} items and more, the winner is that of all items."
    for name, end, sign in ((a, "low", 1), (b, "high", -1)):
        ahead = [row["t"] for row in rows[1:] if sign * (row["lead"][end] or 0) > 0]
        if ahead:
            sizes = ", ".join(f"{t:,}" for t in ahead)
            said += f" In samples of {sizes} {escape(name)} is surely ahead."
    options = _options(record)
    said += (
        f" P@{options.metric.cutoff or 10}, each liked item (a rating of "
        f"{exact(options.protocol.min_rating)} or more) ranked alone among the others; values and "
        f"leads are means over {users_said(whole['n_users'])}, who have one."
    )
    said += _warned_of(record, "samples of candidates")
    return "<h2>Sampled candidates against all items</h2>\n" + f"<p>{said}</p>" + _table(
        ["items in the sample", *names, "lead, 95 % interval"],
        [[f"{row['t']:,}" if row["t"] else "all", *(_number(row["values"][n]) for n in names),
          _lead(row["lead"])] for row in rows],
    )  # fmt: skip


def _options(record: Mapping[str, Any]) -> Options:
    return Options.parse(record["own"]["options"])


def _seeds(record: Mapping[str, Any]) -> str:
    if not record["seeds"]:
        return ""
    rows = [["yours", _lead(record["own"]["lead"])]]
    rows += [[escape(str(row["seed"])), _lead(row["lead"])] for row in record["seeds"]]
    leads = [record["own"]["lead"], *(row["lead"] for row in record["seeds"])]
    ahead = sum((lead["low"] or 0) > 0 for lead in leads)
    behind = sum((lead["high"] or 0) < 0 for lead in leads)
    a = escape(record["sentence"]["a"])
    said = f"Of split, training, ties and samples. With {ahead} of {len(leads)} {a} is surely ahead"
    said += f", with {behind} surely behind." if behind else "."
    return f"<h2>Other seeds</h2>\n<p>{said}</p>" + _table(["seed", "lead, 95 % interval"], rows)


def _users(record: Mapping[str, Any]) -> str:
    users, a = record["users"], record["sentence"]["a"]
    rows = [
        [f"{escape(row['third'])} {words}", f"{row['from']:,.0f} to {row['to']:,.0f}",
         f"{row['users']:,}", _lead(row)]
        for words, part in (("active", "activity"), ("popular likes", "popularity"))
        for row in users[part]
    ]  # fmt: skip
    return (
        "<h2>Who gains, and who loses</h2>\n"
        f"<p>Of {users_said(users['users'])} {percent(users['gain'])} are better served by "
        f"{escape(a)}, {percent(users['lose'])} worse.</p>"
        + _table(
            [
                "third of the users",
                "ratings, or mean ratings of what they like (neighbours may share an end)",
                "users",
                "lead, 95 % interval",
            ],
            rows,
        )
    )


_WORDS = {
    "judged": "share of the lists that is rated at all",
    "antiP": "share that the user rated under {least}",
    "Served": "share of the places that are filled",
    "ARP": "mean ratings of what is shown",
    "Coverage": "share of the catalogue that is shown to anybody",
    "Gini": "inequality of what is shown (0: all items alike)",
}


def _hidden(record: Mapping[str, Any]) -> str:
    found = record["hidden"]
    systems = list(next(iter(found["lists"].values())))
    least = exact(_options(record).protocol.min_rating)
    rows = [
        [f"{escape(_WORDS[metric.partition('@')[0]].format(least=least))}<br>"
         f"<span class='soft'>{metric}</span>",
         *(_number(values.get(name)) for name in systems)]
        for metric, values in found["lists"].items()
        if not metric.startswith("antiP") or any(values.values())  # else there are no misses
    ]  # fmt: skip
    parts = [
        [escape(words), "", escape(told)]
        if isinstance(told, str)
        else [escape(words), f"{told['n_users']:,}", _of_part(told)]
        for words, told in found["parts"].items()
    ]
    return (
        "<h2>What accuracy hides</h2>\n"
        + _table(["", *systems], rows)
        + _table([f"P@{found['depth']} among", "users", "lead, 95 % interval"], parts)
        + f"<p>{_behind(record)}Users are parted in each fold anew, so that one may be on both "
        "sides.</p>"
    )


def _behind(record: Mapping[str, Any]) -> str:
    """Name the parts in which A surely is worse."""
    parts = record["hidden"]["parts"].items()
    worse = [words for words, told in parts if not isinstance(told, str)
             and told["n_users"] >= _FEW and (told["high"] or 0) < 0]  # fmt: skip
    if not worse:
        return ""
    return f"{escape(record['sentence']['a'])} is surely behind among {escape('; '.join(worse))}. "


_FEW = 20
"""Users of whom a part is not spoken."""


def _of_part(told: Mapping[str, Any]) -> str:
    if told["n_users"] < _FEW:
        return f"{_lead(told)}: too few users"
    if told["lead"] == told["low"] == told["high"] == 0:
        return "none: no user is served differently"
    return _lead(told)


def _signals(record: Mapping[str, Any]) -> str:
    rows = [
        [
            f"{'! ' if s['fires'] else ''}{escape(s['name'])}",
            f"{_seen(s)}{escape(s['evidence'])}",
            _chapter(record, s["chapter"]),
        ]
        for s in sorted(record["signals"], key=lambda signal: not signal["fires"])
    ]
    hint = "" if record["book"] else (
        "<p class='soft'>The book is what recbias book builds; with --book ADDRESS its pages are "
        "linked here.</p>"
    )  # fmt: skip
    table = _table(["warning", "evidence", "in the book"], rows)
    return f'<h2 id="warnings">Warnings</h2>\n{table}{hint}'


def _seen(signal: Mapping[str, Any]) -> str:
    if signal["fires"]:
        return "<strong>fires:</strong> "
    return "not seen: " if signal.get("told", True) else "cannot tell: "


def _chapter(record: Mapping[str, Any], name: str) -> str:
    """Name the page of a chapter, such as ``03_popularity_bias``."""
    if not name:
        return ""
    number, _, words = name.partition("_")
    said = f"chapter {int(number)}, {words.replace('_', ' ')}" if words else f"page on {name}"
    return _linked(record, f"notebooks/{name}.html", said)


def _linked(record: Mapping[str, Any], page: str, words: str) -> str:
    """Link a page of the book where its address is known, else name it."""
    if not record["book"]:
        return escape(words)
    return f'<a href="{escape(record["book"].rstrip("/"))}/{escape(page)}">{escape(words)}</a>'


_RULINGS = {
    "refuted": "refuted on your data",
    "open": "open: your data do not decide",
    "holds": "holds on your data",
    "not testable": "not testable on your data",
}
"""What is said of a claim in its short form, by its verdict, in the order of the page."""


def _ledger(record: Mapping[str, Any]) -> str:
    head, found = "<h2>What papers say of such a design</h2>\n", record["ledger"]
    if found["left out"]:
        return f"{head}<p>The claims of the four papers were left out.</p>"
    if found["claims"] is None:
        return (
            f"{head}<p>The room that knows the claims of the four papers is absent here; "
            "recbias audit, the command, has it.</p>"
        )
    order = list(_RULINGS)
    told = []
    for row in sorted(found["claims"], key=lambda each: order.index(each["verdict"])):
        text = f"{row['found']}. Claimed: {row['claimed']}. " if row["found"] else ""
        why = f"{row['reason'][:1].upper()}{row['reason'][1:]}. " if row["reason"] else ""
        told.append(
            f"<li>“{escape(row['says'])}”: "
            f"<strong>{escape(_RULINGS[row['verdict']])}</strong>.<br>"
            f"{escape(text + why)}<span class='soft'>{escape(row['where'])}: "
            f"{_linked(record, row['page'], row['claim'])}</span></li>"
        )
    return (
        f"{head}<p>Claims of the four papers of the book that are about options of your design, "
        "each in a short form on your data: your two systems beside Random, Popularity and "
        "Positive counts, under your split. This is no verdict on the claim, which takes its "
        f"chapter: recbias run CHAPTER --dataset FILE.</p><ul>{''.join(told)}</ul>"
    )


def _over_whom(record: Mapping[str, Any]) -> str:
    head, found = "<h2>Other users, other items</h2>\n", record["over whom"]
    metric = ""
    if isinstance(found, str):
        hits = record.get("over whom of hits")
        if not hits:
            return f"{head}<p>Not for this design: {escape(found)}.</p>"
        metric = f"P@{_options(record).metric.cutoff or 10}"
        own, found = _options(record).measured, hits
    words = {"users": "other users", "items": "other items", "both": "other users and items"}
    rows = [
        [words[row["over"]], _lead(row), "–" if row["p"] is None else _p(row["p"])] for row in found
    ]
    return (
        f"{head}<p>The interval above is about users: with other users, and the same items. Here "
        "users, items or both are drawn again, with the rankings as they are.</p>"
        + (
            f"<p>By {metric}: {escape(str(own))} is no sum over test items that could be drawn "
            "again.</p>"
            if metric
            else ""
        )
        + _table(["with", "lead, 95 % interval", "p"], rows)
        + _items(record)
    )


def _items(record: Mapping[str, Any]) -> str:
    """Name the items that give most to either side; records of before name none."""
    listed = []
    for place, sign in (("a", 1), ("b", -1)):
        rows = [row for row in record.get("items", ()) if sign * row["gives"] > 0]
        rows.sort(key=lambda row: -sign * row["gives"])
        if rows:
            said = ", ".join(
                f"{escape(row['item'])} ({number_said(row['gives'], '+')})" for row in rows
            )
            listed.append(f"<li>{escape(record['sentence'][place])}: {said}</li>")
    if not listed:
        return ""
    return (
        "<p>The items that give most to the lead of each, and how much; all items together "
        f"give the lead:</p><ul>{''.join(listed)}</ul>"
    )


def _p(p: float) -> str:
    return "&lt; 0.0001" if p < 0.0001 else f"{p:.4f}"


def _worlds(record: Mapping[str, Any]) -> str:
    head, found = "<h2>Among simulated worlds</h2>\n", record["worlds"]
    if "reason" in found:
        return f"{head}<p>Where the data lie cannot be told: {escape(found['reason'])}.</p>"
    relation = found["relation"]
    alike = "if whoever likes an item is likelier to rate it by one factor, the same for all items"
    spread = f"{relation['spread']:g} times as large for one item as for another"
    rows = [
        [alike, _ends(relation["estimate"], relation["sampling"])],
        [f"if that factor may be up to {spread}", _ends(None, relation["interval"])],
    ]
    place = record["multiverse"]["trust"]
    kinds = place["kinds"]
    said = (
        f"They may be like worlds with {'; or '.join(kinds)}."
        if kinds
        else f"They are like none of the worlds of the book: {place['beyond']}."
    )
    return (
        f"{head}<p>Are popular items liked more (towards 1), as much (0) or less (towards −1)? "
        "Ratings alone only bound that. Which metric tells the truth depends on it: "
        f"{_chapter(record, '05_true_false_positives')}.</p>"
        + _table(["relation of popularity and liking over items", "95 % interval"], rows)
        + f"<p>{escape(said)} Popularity has a Gini coefficient of {found['skew']:g} once the "
        "noise of counts is taken out. A world like these data, in which every preference is "
        f"known: <code>{escape(found['nearest'])}</code>.</p>"
    )


def _ends(value: float | None, ends: Sequence[float]) -> str:
    text = f"{ends[0]:+z.2f} to {ends[1]:+z.2f}"
    return text if value is None else f"{value:+z.2f} ({text})"


def check_book(address: str) -> None:
    """Refuse an address of a book that no link can lead to.

    Raises
    ------
    ConfigError
        If it has a scheme other than http, https and file.
    """
    scheme = urlsplit(address).scheme
    if len(scheme) > 1 and scheme not in ("http", "https", "file"):
        raise ConfigError(
            f"book {address!r}: expected a folder, or an address that is http or https"
        )


def _data(record: Mapping[str, Any]) -> str:
    said = record["data"]["said"]
    rows = [
        [escape(label), escape(text)] for label, text in said.items() if label != "memory"
    ]  # of chapters, not of audits
    rows.append(["users without likes", f"{record['data']['users without likes']:,}"])
    rows += [["read as", escape(text)] for text in record["data"]["read as"]]
    rows += [["warned of", escape(text)] for text in record["data"]["warned"]]
    rows += [[f"cannot test: {escape(reason)}", escape(text)]
             for reason, text in record["data"]["cannot test"].items()]  # fmt: skip
    return "<h2>The data</h2>\n" + _table(["", ""], rows)


def _methods(record: Mapping[str, Any]) -> str:
    versions = record["versions"]
    supported = record["sentence"].get("supported", "")
    return (
        "<h2>To write, and to repeat</h2>\n"
        + (f"<p>What these data support: {escape(supported)}</p>" if supported else "")
        + f"<pre>{escape(record['methods'])}</pre>"
        + _fold("The table in LaTeX", f"<pre>{escape(latex_of(record))}</pre>")
        + _fold("The table as CSV", f"<pre>{escape(csv_of(record))}</pre>")
        + f'<p class="soft">{escape(record["own"]["options"])}<br>recbias '
        f"{escape(versions['recbias'])}, data {escape(versions['data'])}</p>"
    )


def _flat(record: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Give rows of design, metric, what, value, low, high and p; leads stand below their values."""
    ahead = f"lead of {record['sentence']['a']} (above 0: better)"
    rows: list[tuple[Any, ...]] = []
    for row in record["designs"]:
        named = row["design"], row["metric"]
        for system, numbers in row.get("values", {}).items():
            rows.append((*named, system, *numbers, None))
        if "lead" in row:
            rows.append(
                (*named, ahead, *(row["lead"][key] for key in ("lead", "low", "high", "p")))
            )
    found = record["multiverse"]
    said = f"{found['universes']:,} designs, options of each decision alike"
    for side, column in zip(("a", "b"), ("wins", "loses"), strict=True):
        share = found["shares"]["decisions"][column]
        rows.append((said, "", f"share won by {record['sentence'][side]}", share, None, None, None))
    return rows


def latex_of(record: Mapping[str, Any]) -> str:
    """Write values, leads and the share of designs as a table of the package booktabs."""
    lines = [r"\begin{tabular}{lllrrrr}", r"\toprule",
             r"Design & Metric & System & Value & 95\% from & To & $p$ \\",
             r"\midrule"]  # fmt: skip
    for *texts, value, low, high, p in _flat(record):
        numbers = ["" if number is None else _number(number) for number in (value, low, high)]
        numbers.append("" if p is None else "$<$ 0.0001" if p < 0.0001 else f"{p:.4f}")
        lines.append(" & ".join([*map(latex_text, texts), *numbers]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def csv_of(record: Mapping[str, Any]) -> str:
    """Write the same as CSV."""
    quoted = [
        ",".join(
            [*('"' + text.replace('"', '""') + '"' for text in row[:3]), *map(_plain, row[3:])]
        )
        for row in _flat(record)
    ]
    return "\n".join(["design,metric,system,value,low,high,p", *quoted])


def _plain(number: float | None) -> str:
    return "" if number is None else repr(number)


def _number(number: float | None) -> str:
    if number is None:
        return "–"
    return number_said(number) if abs(number) < 10 else f"{number:,.0f}"


def percent(share: float | None) -> str:
    """Write a share so that none but all is 100 %, none but nothing 0 %, and 89.96 % is not 90."""
    if share is None:
        return "–"
    whole = round(share, 9)
    if whole in (0, 1):
        return f"{100 * whole:.0f} %"
    tenths = min(max(round(1000 * whole), 1), 999)
    if whole < SHARE <= tenths / 1000:
        tenths -= 1
    return f"{tenths / 10:g} %"


def _lead(numbers: Mapping[str, Any]) -> str:
    if numbers["lead"] is None:
        return "nobody"
    text = number_said(numbers["lead"], "+")
    if numbers["low"] is None:
        return f"{text} (no interval)"
    return f"{text} [{number_said(numbers['low'], '+')}, {number_said(numbers['high'], '+')}]"


def _option(decision: str, option: str) -> str:
    return option_said(decision, "" if option == "none" else option)


def _bar(share: float) -> str:
    return f'<div class="bar"><i style="width:{100 * share:.0f}%"></i><b></b></div>'


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table; cells are HTML, heads are text."""
    said = ", ".join(filter(None, heads)) or "table"
    top = "".join(f"<th scope='col'>{escape(head)}</th>" for head in heads)
    body = "".join(
        "<tr>" + "".join(_cell(cell, len(heads) - len(row) + 1 if place == len(row) - 1 else 1)
                         for place, cell in enumerate(row)) + "</tr>"
        for row in rows
    )  # fmt: skip
    head = f"<thead><tr>{top}</tr></thead>" if any(heads) else ""
    return (
        f"<div class='wide' tabindex='0' role='region' aria-label='{escape(said)}'>"
        f"<table>{head}<tbody>{body}</tbody></table></div>"
    )


def _cell(cell: str, columns: int) -> str:
    wide = f" colspan='{columns}'" if columns > 1 else ""
    kind = " class='n'" if _NUMBER.match(cell) else " class='text'" if len(cell) > 40 else ""
    return f"<td{kind}{wide}>{cell}</td>"


_NUMBER = re.compile(r"[-+]?[\d,.]+( %)?( \[.*\]| to [\d,.]+)?$|nobody$|–$")


def _fold(title: str, inner: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{inner}</details>"
