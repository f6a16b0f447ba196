"""No page states what data decide in a sentence that no verdict can change."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from findings_net import looks_like_finding, sentences, unbound
from recbias.chapters import list_chapters

ROOT = Path(__file__).parents[1]

# What stood on the pages in every edition, and was wrong in some.
STOOD_UNBOUND = [
    "Read the axes first: one metric, one dataset, and for the same system a value that depends on "
    "the design more than on most changes of a model.",
    "What changes is the share of relevant items among the targets: from all items to tested items "
    "a little, to a sample a lot, and to one in {glue:text}`size` under 1R.",
    "Larger target sets shrink the gap only in absolute terms, because all values shrink with "
    "$1/t$; look at the last column.",
    "Requiring more neighbours, or damping the division, lets popularity back in by degrees; in "
    "{numref}`fig-settings` the normalised kNN moves to the right as it does.",
    "A sample takes away non-relevant items and no relevant one, so everybody gains; Random gains "
    "by the ratio of the two $\\rho$ in the table above.",
    "Thinning the test data closes the gap, and for a plain reason: with one relevant item per "
    "user the two bounds are the same number.",
    "Another metric hardly changes who wins; another design may.",
    "The candidates matter less.",
    "Where nearly every item has a test rating, **AI** and **TI** give the same values.",
    "{numref}`tbl-rtest` shows why the paper discards it: what is left out are the items that "
    "nobody should recommend, and a random ranking of the rest looks good.",
    "**Why does the order of systems change between AR and 1R?**",
    "**Why do two readings of one name differ so much?**",
    "That interval is wider, and most so for a system that lives on a few items.",
    "Each answer is in use somewhere under the same name, and on this page the systems differ by "
    "more than most published improvements.",
    "Under test ratings only, the two rating predictors come first.",
    "Popularity beats normalised kNN per run and loses per user.",
    "The two orders of all ten systems have a tau of .24.",
    "Nine systems of one name differ by a factor of 400.",
    "Here too the order of the paper survives.",
    "It stays at the bottom whatever the design.",
    "Random almost reaches pLSA.",
    "Popularity leads among all tested items.",
    "pLSA tops every list.",
    "Two thirds of the pairs trade places.",
    "kNN trails Popularity by one half.",
    "Sampling doubles Random.",
    "The order is preserved under sampling.",
    "ALS and BPR are indistinguishable.",
    "It goes from 8 to 30 percent.",
    "Popularity improves fourfold.",
    "Under AR it is the other way round.",
    "The paper reports 0.08, and here it is 0.15.",
    "Popularity scores {glue:text}`pop`, kNN {glue:text}`knn`.",
    "Samples flatter weak systems.",
    "Random has $0.064$ under AR.",
    "Random comes to {math}`P = 3`.",
    "The paper is right: Popularity beats kNN.",
    "As in the paper, Popularity beats kNN.",
    "The order that the paper reports changes on every dataset.",
    "MF can only lose, and Popularity must gain.",
    "The gap between them is negligible.",
    "MF suffers under AR, and Random benefits.",
    "The two rankings coincide.",
    "pLSA dominates the rankers.",
]

STATES_NOTHING = [
    "A user takes the place of a query, the items to be ranked that of the documents.",
    "Training items of the user are never in.",
    "A run holds one relevant item, so only one of its $n$ places is a hit: $1RP@n\\le 1/n$.",
    "Random measures the design: $\\rho$ under AR, $1/t$ under 1R.",
    "The paper reports that all differences in its figure are significant.",
    "{cite:t}`BCC17` find that Popularity comes close behind pLSA.",
    "The published order is pLSA, Popularity, MF, kNN, Random.",
    "Does theory predict Random?",
    "### Do other metrics agree?",
    "Popularity is trained and ranked again, by sorting the scores of every target set.",
    "Whiskers are 95 % intervals of the systems from resampling users.",
    "Verdicts use intervals over users.",
    "*Popularity*: the more people rated an item, the higher it comes, up to the largest possible "
    "value; for most items that is 0 (why that matters is shown below).",
    "None of this is a bug, and none of it is cheating.",
    "It lets Popularity rank, and counts what is liked of the first {glue:text}`cutoff`.",
    "Every system is trained under {glue:text}`n_seeds` per fold.",
    "We compare with user kNN (cosine, $k=20$).",
    "Bars have intervals of 95 percent, one for each system.",
    "Half and double the neighbours, and nearly all systems are run.",
    "A sign beside a system leads to what was found.",
]

SAID_IN_GENERAL = [
    "Users with many ratings have smaller target sets, since their training items are taken out.",
    "Another design may change who wins.",
    "Larger target sets hold fewer relevant items in proportion.",
    "A sample of fewer items is an easier task.",
    "If two systems change places, compare them under the design that the task asks for.",
    "One parameter of each of the systems is changed, from the best to the worst.",
    "Give the interval: a difference that is smaller than it tells nothing.",
    "Among 99 others, no system can have a P@10 above 0.10.",
]

NOT_EVEN_IN_GENERAL = [
    *(STOOD_UNBOUND[place] for place in (0, 2, 3, 4, 9, 10, 13, 14, 15, 16, 17)),
    *(said for said in STOOD_UNBOUND[20:] if re.search("Popularity|Random|pLSA|kNN|MF|ALS", said)),
    "In {numref}`fig-values` the bars reorder from design to design, and most fall.",
]


@pytest.mark.parametrize("sentence", STOOD_UNBOUND)
def test_what_stood_unbound_is_caught(sentence: str) -> None:
    assert unbound(f"Some words.\n{sentence}\nOther words.") == [sentence]


@pytest.mark.parametrize("sentence", STATES_NOTHING)
def test_what_states_no_finding_may_stand(sentence: str) -> None:
    assert unbound(sentence) == []


@pytest.mark.parametrize("sentence", SAID_IN_GENERAL)
def test_theory_and_advice_may_compare_in_a_general_cell(sentence: str) -> None:
    assert unbound(sentence), "elsewhere it is caught"
    assert unbound(sentence, general=True) == []


@pytest.mark.parametrize("sentence", NOT_EVEN_IN_GENERAL)
def test_a_comparison_of_systems_is_not_general(sentence: str) -> None:
    assert unbound(sentence, general=True) == [sentence]


CAUGHT = "Random gains a lot."
PASSED = f"""
:::{{finding}} BCC17-F2A
yes: {CAUGHT}
no: {CAUGHT}
  {CAUGHT}
:::

::::{{predict}} Which system gains more?
- {CAUGHT}
- {CAUGHT}

Look.
:::{{finding}} BCC17-F2A
yes: {CAUGHT}
:::
::::

````{{exercise}} Gains
:label: ex-gains

{CAUGHT}
```python
1
```
{CAUGHT}
````

```{{solution}} ex-gains
{CAUGHT}
```

~~~
{CAUGHT}
~~~

$$
\\text{{{CAUGHT}}}
$$

% {CAUGHT}
"""


def test_blocks_that_follow_a_verdict_ask_or_practise_are_passed_over() -> None:
    assert unbound(PASSED) == []


@pytest.mark.parametrize(
    "text",
    [
        f"{PASSED}\n{CAUGHT}",
        PASSED.replace("Look.", CAUGHT),
        f"- a point\n- {CAUGHT}",
        f"> {CAUGHT}",
        f"## {CAUGHT}",
        f":::{{note}}\n{CAUGHT}\n:::",
        f"```{{glue:figure}} f\n:name: fig-f\n:alt: Bars.\n\n{CAUGHT}\n```",
        f"```{{glue:figure}} f\n:alt: {CAUGHT}\n\nBars.\n```",
        f"So\n:::{{finding}} BCC17-F2A\nyes: it is.\n:::\n{CAUGHT}",
    ],
)
def test_everything_else_is_read(text: str) -> None:
    assert unbound(text)[-1].endswith(CAUGHT)


def test_a_sentence_may_start_with_a_system_in_small_letters() -> None:
    assert unbound("The paper has five systems. pLSA tops them.") == ["pLSA tops them."]


def test_a_question_is_none_unless_it_takes_its_answer_for_granted() -> None:
    assert not looks_like_finding("Which system gains a lot?")
    assert looks_like_finding("Why does Random gain a lot less than kNN?")


def test_a_place_is_named_by_its_line(tmp_path: Path) -> None:
    page = tmp_path / "x.py"
    page.write_text(
        f'# %% [markdown]\n# # Title\n#\n# One\n# two.\n#\n# {CAUGHT}\n\n# %%\n1\n\n'
        f'# %% [markdown] tags=["general"]\n# Three.\n',
        encoding="utf-8",
    )  # fmt: skip
    assert [(said.line, said.general) for said in sentences(page)] == [
        (2, False), (4, False), (7, False), (13, True),
    ]  # fmt: skip


CHAPTERS = [chapter.source for chapter in list_chapters(ROOT)]
PAGES = [page for page in [ROOT / "book" / "index.md"] if page.is_file()]
"""The other pages there define and decide, or tell of measurements on data that they name."""


@pytest.mark.parametrize("page", [*CHAPTERS, *PAGES], ids=lambda p: p.name)
def test_no_page_states_a_finding_that_is_bound_to_no_part(page: Path) -> None:
    caught = [
        f"{page.relative_to(ROOT)}:{said.line}: {said.text}"
        for said in sentences(page)
        if looks_like_finding(said.text, general=said.general)
    ]
    assert not caught, (
        "these sentences state what data decide and stand whatever the verdict is; put each into\n"
        "a block :::{finding} NAME, or say in a cell tagged general what holds on any data\n"
        "(CONTRIBUTING.md, Sentences that follow verdicts):\n" + "\n".join(caught)
    )
