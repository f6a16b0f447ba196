"""Tables of item features: in every form, for the items of the ratings, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from recbias.data.features import ItemFeatures, load_features
from recbias.data.ratings import Ratings
from recbias.errors import ConfigError, ContractError, DataError, DataWarning, MissingData


def ratings(items=(1, 2, 30)):
    frame = {"user_id": 1, "item_id": items, "rating": np.arange(1.0, 1 + len(items))}
    return Ratings.from_frame(pd.DataFrame(frame))


def sets(features):
    names = np.array(features.names)
    parts = np.split(features.index, features.indptr[1:-1])
    return [set(names[part].tolist()) for part in parts]


EXPECTED = [{"War"}, {"Comedy", "War"}, {"Noir"}]
LONG = "item_id,feature\n30,Noir\n2,Comedy\n1,War\n2,War\n2,War\n99,Sport\n"
MOVIES = 'movieId,title,genres\n1,"One, the (1999)",War\n2,Two,Comedy|War\n30,"3 ""x""",Noir\n'
TWO = "asin,sort of thing\n1,War\n02,Comedy | War\n30.0,Noir\n"


@pytest.mark.parametrize("text", [LONG, MOVIES, TWO])
def test_texts_of_every_layout_say_the_same(tmp_path, text):
    for name, content in (("a.csv", text), ("a.tsv", text.replace(",", "\t").replace('"', ""))):
        if name == "a.tsv" and text == MOVIES:
            continue  # a tab within its quotes would be one
        (tmp_path / name).write_text(content)
        assert sets(load_features(str(tmp_path / name), ratings())) == EXPECTED


def test_frames_and_parquet_hold_lists_too(tmp_path):
    frame = pd.DataFrame({"movie": [1, 2, 30], "tags": [["War"], ["War", "Comedy"], ["Noir"]]})
    frame.to_parquet(tmp_path / "a.parquet")
    of_frame, of_file = (load_features(t, ratings()) for t in (frame, tmp_path / "a.parquet"))
    assert sets(of_frame) == sets(of_file) == EXPECTED
    numbers = pd.DataFrame({"item": ["30", "2", "1"], "category": [7.0, 8.0, 8.0]})
    assert sets(load_features(numbers, ratings())) == [{"8"}, {"8"}, {"7"}]


def test_the_hash_follows_what_items_have_and_nothing_else():
    rows = pd.DataFrame({"item": [1, 2, 30], "genre": ["War", "Comedy|War", "Noir"]})
    first = load_features(rows, ratings()).content_hash
    assert load_features(rows.iloc[::-1].assign(year=1999), ratings()).content_hash == first
    with pytest.warns(DataWarning, match="DataFrame: 1 of 3 items have no feature"):
        assert load_features(rows.iloc[:2], ratings()).content_hash != first
    renamed = rows.replace("Noir", "Western")
    assert load_features(renamed, ratings()).content_hash != first


def test_cells_that_say_nothing_are_no_feature():
    cells = ["", " | ", "(no genres listed)", None, float("nan"), "War"]
    rows = pd.DataFrame({"item": range(6), "genres": cells})
    with pytest.warns(DataWarning, match="5 of 6 items have no feature"):
        features = load_features(rows, ratings(tuple(range(6))))
    assert sets(features) == [set()] * 5 + [{"War"}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a column of items"),
        ("item_id,a,b\n1,x,y\n", r"columns found: item_id, a, b; rename"),
        ("item_id,genres,tags\n1,x,y\n", "columns found: item_id, genres, tags"),
        ("name,genres\n1,x\n", "columns found: name, genres"),
        ("item_id,genre,genre\n1,x,y\n", "columns found: item_id, genre, genre"),
        ("item_id,genre\n7,x\n", r"column 'genre'\nids there are '7', in the ratings '1', '2', "),
        ("item_id,genre\n1,\n", "no item of the ratings has a feature"),
        ("item_id;genre\n1;x\n", "separate fields by commas"),
    ],
)
def test_what_is_no_table_of_features_is_refused(tmp_path, text, message):
    path = tmp_path / "items.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=message) as refused:
        load_features(path, ratings())
    assert str(path) in str(refused.value)
    assert len(str(refused.value).splitlines()) <= 3


def test_what_is_no_table_at_all_is_refused(tmp_path):
    with pytest.raises(MissingData, match=r"no file .*items.csv\ngive the path of a table of item"):
        load_features(tmp_path / "items.csv", ratings())
    (tmp_path / "a.parquet").write_text("no")
    with pytest.raises(DataError, match=r"a.parquet: cannot be read"):
        load_features(tmp_path / "a.parquet", ratings())
    with pytest.raises(ConfigError, match=r"features: got int 3, expected the path of a table"):
        load_features(3, ratings())


@pytest.mark.parametrize(
    ("indptr", "index", "message"),
    [
        ([0, 1], [0, 1], "does not span 2 numbers"),
        ([1, 2], [0, 1], "does not span"),
        ([0, 2], [1, 1], "ascending, each once"),
        ([0, 2], [1, 0], "ascending, each once"),
        ([0, 2, 1, 2], [0, 1], "ascending, each once"),
        ([0, 1, 2], [0, 2], "is not from 0 to 1"),
        ([0, 1, 2], [-1, 0], "is not from 0 to 1"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(indptr, index, message):
    with pytest.raises(ContractError, match=message):
        ItemFeatures(("a", "b"), np.array(indptr), np.array(index, dtype=np.int32))
