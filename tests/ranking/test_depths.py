"""Depth maps by walking down every list, and coverage by counting places."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rank_tables import user_table
from recbias.errors import ConfigError
from recbias.metrics import measure, parse_metric
from recbias.ranking import RankTable, depth_map

users = st.lists(
    st.tuples(
        st.permutations(range(9)).flatmap(
            lambda items: st.integers(0, 9).map(lambda length: list(items)[:length])
        ),
        st.dictionaries(st.integers(0, 8), st.integers(1, 5)),
    ),
    min_size=1,
    max_size=5,
)


def walked(lists, depth):
    """Walk down each list and note the places of the items that the user rated."""
    found = [[] for _ in range(depth)]
    for items, rated in lists:
        places = [place for place, item in enumerate(items, start=1) if item in rated]
        for k, place in enumerate(places[:depth]):
            found[k].append(place)
    return found


@given(users, st.integers(1, 10))
def test_depth_maps_against_walking_down(lists, depth):
    ranks, n_users = depth_map(user_table(*lists), depth)
    found = walked(lists, depth)
    assert n_users.tolist() == [len(each) for each in found]
    expected = [sum(each) / len(each) if each else np.nan for each in found]
    assert ranks == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_the_walk_notices_a_map_of_condensed_places():
    """Ranks among judged items only, the twin, are no depths."""
    lists = [([7, 1, 8, 2, 0], {0: 4, 1: 4, 2: 4})]
    assert depth_map(user_table(*lists), 3)[0].tolist() == [2, 4, 5]
    assert [each[0] for each in walked(lists, 3)] == [2, 4, 5] != [1, 2, 3]


@given(users, st.integers(1, 10), st.booleans())
def test_served_places_are_counted(lists, depth, condensed):
    table = user_table(*lists)
    found = measure(table, [parse_metric(f"Served@{depth}")], min_rating=4, condensed=condensed)
    for value, (items, rated) in zip(found[0], lists, strict=True):
        shown = [item for item in items if item in rated or not condensed]
        assert value == sum(place < len(shown) for place in range(depth)) / depth


def test_what_has_no_depths_is_refused():
    none = np.zeros(0, np.int32)
    runs = RankTable("run", 1, none, none, np.zeros(0), none, none, none, none)
    with pytest.raises(ConfigError, match="one judged item"):
        depth_map(runs, 3)
    with pytest.raises(ConfigError, match="expected at least 1"):
        depth_map(user_table(([1], {1: 5})), 0)
