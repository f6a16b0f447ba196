"""One universe in plain loops: an oracle for the multiverse that shares no code with it.

What it is given is a split, scores of two systems and random numbers. Lists are sorted, metrics and
averages are loops over users, resampling repeats users one by one.
"""

import math

import numpy as np
from scipy import stats

EPSILON = 1e-5


def ranked(scores, user, train, candidates):
    """Best first, without training items and without what has no score."""
    seen = set(train.item[train.user == user].tolist())
    items = [i for i in candidates if i not in seen and not math.isnan(scores[user, i])]
    return sorted(items, key=lambda item: -scores[user, item])


def gain_of(rating, name, threshold, top):
    liked = rating >= threshold
    return {
        "binary": float(liked),
        "linear": rating if liked else 0.0,
        "exp": max(0.0, (2 ** (rating - 1) - 1) / (2 ** (top - 1) - 1)),
    }[name]


def value_of(metric, places, rated, threshold, gain, top):
    """One user: places of the items that they rated in test, and all of these ratings."""
    name, _, depth = metric.partition("@")
    depth = int(depth) if depth else math.inf
    liked = [item for item in rated if rated[item] >= threshold]
    hits = sorted(places[item] for item in liked if item in places and places[item] <= depth)
    if name == "P":
        return len(hits) / depth
    if name == "antiP":
        return sum(places.get(i, math.inf) <= depth for i in rated if rated[i] < threshold) / depth
    if name == "R":
        return len(hits) / len(liked) if liked else 0.0
    if name == "RR":
        return 1 / hits[0] if hits else 0.0
    if name == "AP":
        return sum((n + 1) / r for n, r in enumerate(hits)) / len(liked) if liked else 0.0
    gains = {item: gain_of(rated[item], gain, threshold, top) for item in rated}
    if name == "RBP(0.8)":
        return 0.2 * sum(gains[i] * 0.8 ** (places[i] - 1) for i in rated if i in places)
    assert name == "nDCG"
    ideal = sorted(gains.values(), reverse=True)
    best = sum(each / math.log2(n + 2) for n, each in enumerate(ideal) if n < depth)
    won = sum(
        gains[i] / math.log2(places[i] + 1) for i in rated if places.get(i, math.inf) <= depth
    )
    return won / best if best else 0.0


def users_of(split, scores, words):
    """Value and weight of each user; None for who is not counted."""
    train, test = split.train, split.test
    tested_items = sorted(set(test.item.tolist()))
    candidates = tested_items if words["candidates"] == "TI" else range(train.n_items)
    top = test.scale.maximum
    counted = []
    for user in range(train.n_users):
        rows = np.flatnonzero(test.user == user)
        rated = {int(test.item[row]): float(test.value[row]) for row in rows}
        ranking = ranked(scores, user, train, candidates)
        if words["condensed"]:
            ranking = [item for item in ranking if item in rated]
        places = {item: n + 1 for n, item in enumerate(ranking) if item in rated}
        n_liked = sum(rating >= words["threshold"] for rating in rated.values())
        n_trained = int((train.user == user).sum())
        inside = {
            "all": True,
            "tested": len(rated) > 0,
            "relevant": n_liked > 0,
            "trained": n_trained > 0,
        }[words["users"]]
        if words["reduced"] and not ranking:
            inside = False
        weight = {"": 1, "ratings": len(rated), "relevant": n_liked}[words["weights"]]
        if not inside or weight == 0:
            counted.append(None)
            continue
        value = value_of(words["metric"], places, rated, words["threshold"], words["gain"], top)
        counted.append((value, weight))
    return counted


def average(counted, words, times=None):
    """The average, each user as often as is said."""
    total = size = 0.0
    for number, each in enumerate(counted):
        repeats = 1 if times is None else int(times[number])
        if each is not None and repeats:
            value, weight = each
            value = math.log(value + EPSILON) if words["geometric"] else value
            total += repeats * weight * value
            size += repeats * weight
    mean = total / size
    return math.exp(mean) - EPSILON if words["geometric"] else mean


def universe(split, both, words, weights, signs):
    """Difference, standard error, interval, users, p of t, and t with systems swapped."""
    a, b = (users_of(split, scores, words) for scores in both)
    difference = average(a, words) - average(b, words)
    drawn = [average(a, words, times) - average(b, words, times) for times in weights]
    known = [n for n in range(len(a)) if a[n] is not None and b[n] is not None]
    log = (lambda v: math.log(v + EPSILON)) if words["geometric"] else (lambda v: v)
    gaps = [log(a[n][0]) - log(b[n][0]) for n in known]
    sizes = [a[n][1] for n in known]
    n = len(known)
    mean = sum(w * d for w, d in zip(sizes, gaps, strict=True)) / sum(sizes)
    squares = sum((w * (d - mean)) ** 2 for w, d in zip(sizes, gaps, strict=True))
    error = math.sqrt(squares * n / (n - 1)) / sum(sizes)
    p = 2 * stats.t.sf(abs(mean / error), n - 1) if error else 1.0
    flipped = []
    for row in signs:
        units = [row[k] * w * d for k, w, d in zip(known, sizes, gaps, strict=True)]
        spread = np.std(units, ddof=1)
        flipped.append(np.mean(units) / spread * math.sqrt(n) if spread else 0.0)
    return {
        "difference": difference,
        "se": float(np.std(drawn, ddof=1)),
        "low": float(np.quantile(drawn, 0.025)),
        "high": float(np.quantile(drawn, 0.975)),
        "n_users": n,
        "p": p,
        "t": flipped,
    }
