"""Claims in a short form, tests over users and items, and where data lie among worlds."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from audit_of_world import PAIR, WORLD, audited_world
from recbias import System, load_dataset
from recbias.audit import audit, auditing, comparison, ledger
from recbias.audit.comparison import Comparison
from recbias.audit.design import own_design
from recbias.audit.page import check_book, page_of
from recbias.claims import short
from recbias.errors import ConfigError
from recbias.experiment.reduction import resampled_both
from recbias.trust import fit_relation


@pytest.fixture(scope="module")
def audited():
    return audited_world()


@pytest.fixture(scope="module")
def asks():
    return Comparison(WORLD, PAIR, own_design(load_dataset(WORLD), split="ratio 0.5"))


# ---- claims


def test_claims_that_bear_on_the_design_are_ruled_on(audited):
    told = {row["claim"]: row for row in audited.record["ledger"]["claims"]}
    assert len(told) == 13  # all but the one about condensed lists
    assert "CCM20-C-CONDROSE" not in told
    for row in told.values():
        assert bool(row["found"]) != (row["verdict"] == "not testable")
        assert row["says"] in page_of(audited.record).replace("&#x27;", "'")


def test_condensed_lists_have_claims_of_their_own():
    design = own_design(load_dataset(WORLD), "AI-AN-AR rel>=4 condensed")
    bear = {form.claim.id for form in short.short_forms() if form.bears_on(design)}
    assert "CCM20-C-CONDROSE" in bear
    assert "BCC17-C-TIAI" not in bear


def test_rulings_are_those_of_the_numbers(asks):
    """Once more by hand, of plain runs: a number in a sentence, and on which side it lies."""
    told = {ruling.claim: ruling for ruling in short.rulings(asks, whole_lists=True)}
    systems = short._systems(asks)
    values = {}
    for table in ("full", "headless"):
        protocol, test, _ = short.DESIGNS[table]
        case = comparison.Case(table, f"{protocol} rel>=4", "P@10", test)
        found = asks.run(case, systems=systems)
        values[table] = found["Popularity", "case", "P@10"].value
    head = told["BCC17-F8-HEAD"]
    assert f"scores {values['full']:.3g}, and {values['headless']:.3g}" in head.found
    assert (head.verdict == "refuted") <= (values["full"] < values["headless"])


def flat():
    """A table in which every item is rated and liked alike, so that popularity says nothing."""
    rng = np.random.default_rng(3)
    rows = [(u, (u * 7 + k * 3) % 60, int(rng.integers(1, 6))) for u in range(60)
            for k in range(20)]  # fmt: skip
    return pd.DataFrame(rows, columns=["user_id", "item_id", "rating"])


def test_what_does_not_show_is_refuted():
    table = flat()
    asks = Comparison(table, PAIR, own_design(load_dataset(table), split="ratio 0.5"))
    told = {ruling.claim: ruling.verdict for ruling in short.rulings(asks, whole_lists=True)}
    assert told["BCC17-C-POPOPT"] == "refuted"


def test_ratings_without_dislikes_cannot_test_what_is_about_them():
    table = flat().assign(rating=5).drop(columns="rating")
    asks = Comparison(table, PAIR, own_design(load_dataset(table), split="ratio 0.5"))
    told = {ruling.claim: ruling for ruling in short.rulings(asks, whole_lists=True)}
    assert told["MCCRS20-C2"].verdict == "not testable"
    assert told["MCCRS20-C2"].reason == "no negatives"


def test_lists_that_were_cut_off_cannot_tell_what_lies_below_their_end(asks):
    told = {ruling.claim: ruling for ruling in short.rulings(asks, whole_lists=False)}
    assert "cut off" in told["BCC17-C-RTEST"].reason
    assert told["BCC17-C-TIAI"].reason == ""


def test_a_system_of_the_readers_that_is_called_popularity_stays_apart(asks):
    pair = System("Popularity", "AverageRating"), System("Random", "Random")
    names = [system.name for system in short._systems(dataclasses.replace(asks, pair=pair))]
    assert names == ["Popularity (yours)", "Random", "Popularity", "Positive counts"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"about": ["nothing"]}, "part of a design"),
        ({"value": "P[case] in elsewhere"}, "design of short forms"),
    ],
)
def test_a_short_form_of_what_is_not_there_is_refused(changed, said):
    entry = {"claim": "words", "about": ["any"], "finds": "{value}", "above": 0,
             "value": "P[case] of Popularity in full"}  # fmt: skip
    assert short.read_short_forms({"BCC17-C-TIAI": entry})
    with pytest.raises(ConfigError, match=said):
        short.read_short_forms({"BCC17-C-TIAI": {**entry, **changed}})
    with pytest.raises(ConfigError, match="unknown claim"):
        short.read_short_forms({"BCC17-NOWHERE": entry})


def test_without_the_room_of_claims_the_page_says_so(audited, monkeypatch, asks):
    monkeypatch.setattr(ledger, "_JUDGES", {})
    found = ledger.judged_claims(asks, whole_lists=True)
    assert found is None
    absent = {**audited.record, "ledger": {"left out": False, "claims": found}}
    assert "is absent here" in page_of(absent)
    assert "is absent here" not in page_of(audited.record)
    left_out = {**audited.record, "ledger": {"left out": True, "claims": None}}
    assert "were left out" in page_of(left_out)


# ---- links


def test_pages_of_the_book_are_named_or_linked(audited):
    plain = page_of(audited.record)
    assert "chapter 3, popularity bias" in plain
    assert 'href="claims' not in plain
    linked = page_of({**audited.record, "book": "https://example.org/book/"})
    assert '<a href="https://example.org/book/claims/BCC17-C-TIAI.html">' in linked
    assert '<a href="https://example.org/book/notebooks/03_popularity_bias.html">' in linked
    assert '"><script' not in page_of({**audited.record, "book": 'a"><script>'})


def test_an_address_that_would_run_is_refused():
    for address in ("", "../book", "https://example.org", "C:/book"):
        check_book(address)
    with pytest.raises(ConfigError, match="expected a folder"):
        check_book("javascript:alert(1)")


# ---- users, items and both


def test_users_alone_are_what_resampled_users_are(audited, asks):
    """Of the same draws of users as every interval of the package."""
    of_users = audited.record["over whom"][0]
    results = asks.run(asks.own)
    drawn = results["Popularity", "case", "P@10"] - results["Random", "case", "P@10"]
    assert [of_users["low"], of_users["high"]] == pytest.approx(drawn.interval, abs=1e-4)
    own = audited.record["own"]["lead"]["lead"]
    assert {row["lead"] for row in audited.record["over whom"]} == {own}


def test_drawing_items_is_a_plain_loop(asks):
    """The hits of each item, as often as it was drawn, over all users."""
    told, items = comparison.over_whom(asks, asks.own)
    rows = {row["over"]: row for row in told}
    ratings = load_dataset(WORLD).ratings
    n_users, n_items = ratings.n_users, ratings.n_items
    _, weights = resampled_both(n_users, n_items, 1)
    (split,) = comparison_splits(asks)
    hits = np.zeros(n_items)
    for sign, system in zip((1, -1), PAIR, strict=True):
        per_item = hits_of(asks, system, split, n_items)
        hits += sign * per_item
    ahead = (hits[:, None] * weights).sum(axis=0) / (10 * n_users)
    assert rows["items"]["lead"] == pytest.approx(hits.sum() / (10 * n_users), abs=1e-12)
    gives = dict(zip(map(str, ratings.item_ids), hits / (10 * n_users), strict=True))
    assert [row["gives"] for row in items] == pytest.approx([gives[row["item"]] for row in items])
    ordered = sorted(gives.values(), reverse=True)  # of equal ones any may be named
    assert [row["gives"] for row in items] == pytest.approx([*ordered[:3], *ordered[-3:]])
    low, high = np.quantile(ahead, [0.025, 0.975])
    assert [rows["items"]["low"], rows["items"]["high"]] == pytest.approx([low, high], abs=1e-3)


def comparison_splits(asks):
    from recbias.protocol.testset import dataset_splits

    return dataset_splits(load_dataset(WORLD), str(asks.design.split), seed=1)


def hits_of(asks, system, split, n_items):
    """Count for each item the users who have it among their first ten, and like it."""
    from recbias.experiment.run import grid_tables

    grid = comparison.asked(asks.dataset, (system,), asks.design, asks.own, ("P@10",))
    counts = np.zeros(n_items)
    for _, _, _, table in grid_tables(grid, "case"):
        hit = (table.rank > 0) & (table.rank <= 10) & (table.value >= 4)
        np.add.at(counts, table.item[hit], 1)
    return counts


@pytest.mark.slow
def test_a_metric_that_is_no_sum_over_items_says_so(asks):
    found = audit(WORLD, *PAIR, split="ratio 0.5", metric="RR", ledger=False,
                  options={"C2": ("metric: RR", "metric: P@10")})  # fmt: skip
    assert "resampling items needs a sum" in found.record["over whom"]
    assert [row["over"] for row in found.record["over whom of hits"]] == ["users", "items", "both"]
    assert "By P@10: RR is no sum over test items" in page_of(found.record)
    assert found.record["ledger"] == {"left out": True, "claims": None}


# ---- worlds


@pytest.mark.slow
def test_the_relation_is_that_of_the_room_of_trust(audited):
    larger = load_dataset("world(users=90,items=120)")  # of fewer the relation cannot be told
    worlds = auditing._plain(auditing._worlds(larger, 4))
    told = worlds["relation"]
    fitted = fit_relation(larger.ratings, 4)
    assert told["estimate"] == pytest.approx(fitted.estimate, rel=1e-12)
    assert told["interval"] == pytest.approx(list(fitted.interval), rel=1e-12)
    name = worlds["nearest"]
    assert load_dataset(name).ratings.n_users == 90
    assert name in page_of({**audited.record, "worlds": worlds})
    assert "cannot be told" in page_of(audited.record)
