/* Small exercises whose numbers are drawn in the page: each visit has others, a seed gives the same
   again. A drill is what it draws, the answer, and the answers of those who slip, each with what to
   say. `tests/site/test_drills.py` holds the answers against the package. Nothing is sent. */
(() => {
  /* Numbers from 0 up to 1: mulberry32, which has one state of 32 bits. */
  const generator = (seed) => {
    let state = seed >>> 0;
    return () => {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
    };
  };
  const whole = (draw, low, high) => low + Math.floor(draw() * (high - low + 1));
  const shuffled = (draw, items) => {
    const left = [...items], out = [];
    while (left.length) out.push(...left.splice(Math.floor(draw() * left.length), 1));
    return out;
  };
  const sum = (numbers) => numbers.reduce((total, each) => total + each, 0);
  const count = (items, what) => items.filter((item) => item === what).length;
  const judged = (list) => list.filter((item) => item !== "not rated");
  const ranked = (list) => [
    ["place", ...list.map((_, place) => String(place + 1))],
    ["the user", ...list],
  ];
  /* Six places with at least one item of each kind, and an unrated one among the first three. */
  const judgedList = (draw) => {
    const liked = whole(draw, 2, 3), disliked = whole(draw, 1, 2);
    const kinds = ["liked", "disliked", "not rated"];
    const items = [liked, disliked, 6 - liked - disliked].flatMap((n, kind) => Array(n).fill(kinds[kind]));
    let list = shuffled(draw, items);
    while (!list.slice(0, 3).includes("not rated")) list = shuffled(draw, items);
    return list;
  };

  const DRILLS = {
    precision(draw) {
      const list = judgedList(draw), first = list.slice(0, 3), hits = count(first, "liked");
      return {
        given: { list },
        rows: ranked(list),
        answer: hits / 3,
        slips: [
          [count(judged(list).slice(0, 3), "liked") / 3,
            "That leaves out what the user has not rated. Among all items it stays in the list, and counts as a miss."],
          [hits / Math.max(1, judged(first).length),
            "That divides by the rated items of the list. Precision divides by its length, 3."],
          [hits / count(list, "liked"), "That is recall: it divides by all that the user likes."],
          [hits, "These are the hits. Divide them by the length of the list."],
        ],
        why: `${hits} of the first three are liked; an item without a rating is no hit.`,
      };
    },
    runs(draw) {
      const cutoff = whole(draw, 2, 5), size = 10 * whole(draw, 5, 20);
      const ranks = Array.from({ length: 5 }, () => whole(draw, 1, 2 * cutoff));
      const hits = ranks.filter((rank) => rank <= cutoff).length;
      return {
        given: { ranks, cutoff },
        rows: [["run", "1", "2", "3", "4", "5"], ["place of its relevant item", ...ranks.map(String)]],
        text: `The sets have ${size} items, and lists have n = ${cutoff}.`,
        answer: hits / 5 / cutoff,
        slips: [
          [hits / 5, "That is the share of runs with a hit. A hit is one of n places, and adds 1/n."],
          [hits / 5 / size, "The size of the sets does not enter: the places say where the item came."],
          [hits / cutoff, "That is the sum over runs; the value is their mean."],
          [sum(ranks.map((rank) => 1 / rank)) / 5, "That is the mean of 1/place, which is another metric (RR)."],
        ],
        why: `${hits} of 5 runs have their item within the first ${cutoff}; each adds 1/${cutoff}.`,
      };
    },
    complement(draw) {
      const rated = 10 * whole(draw, 3, 9), liked = whole(draw, 5, rated - 5);
      const trained = whole(draw, Math.floor(rated / 2), rated - 4);
      return {
        given: { rated, liked, trained },
        rows: [["ratings of the item", "of them relevant", "in training"], [rated, liked, trained].map(String)],
        answer: (liked * (rated - trained)) / rated,
        slips: [
          [rated - trained, "That many ratings are left. Only a part of them is relevant."],
          [(liked * trained) / rated, "That is what training holds. The test has the rest."],
          [liked * 0.2, "Take the split that was drawn, and not the share that it was to have."],
        ],
        why: `${rated - trained} ratings are left, and ${liked} of ${rated} are relevant.`,
      };
    },
    bpref(draw) {
      const list = judgedList(draw);
      const likes = count(list, "liked"), dislikes = count(list, "disliked");
      const value = (limit, divisor) => {
        let above = 0, total = 0;
        for (const item of list) {
          if (item === "disliked") above += 1;
          if (item === "liked") total += 1 - Math.min(above, limit) / Math.max(1, divisor);
        }
        return total / likes;
      };
      const least = Math.min(likes, dislikes);
      let unrated = 0, misses = 0;
      for (const item of list) {
        if (item === "liked") unrated += 1 - Math.min(misses, likes) / likes;
        else misses += 1;
      }
      return {
        given: { list },
        rows: ranked(list),
        answer: value(likes, least),
        slips: [
          [unrated / likes, "That counts unrated items above a liked one, too. bpref sees rated ones alone."],
          [1 - value(likes, least), "That is the share of dislikes above. bpref is what is left to 1."],
          [value(likes, least) * likes, "That is the sum. Divide it by the number of liked items."],
          [value(likes, likes), "Divide by the smaller of the numbers of likes and dislikes."],
        ],
        why: `for each liked item 1 less the share of the ${least === dislikes ? "disliked" : "first"} items above it; unrated ones do not count.`,
      };
    },
    condensed(draw) {
      const list = judgedList(draw), kept = judged(list).slice(0, 3), hits = count(kept, "liked");
      return {
        given: { list },
        rows: ranked(list),
        answer: hits / 3,
        slips: [
          [count(list.slice(0, 3), "liked") / 3, "That is the value of the full list. Take out first what is not rated."],
          [count(kept, "disliked") / 3, "These are the misses: antiP@3."],
          [hits / count(list, "liked"), "That is recall: it divides by all that the user likes."],
        ],
        why: `without unrated items the first three are ${kept.join(", ")}. What is no hit is a miss: antiP@3 is ${3 - hits}/3.`,
      };
    },
    gini(draw) {
      const counts = shuffled(draw, [whole(draw, 0, 2), whole(draw, 1, 3), whole(draw, 2, 5), whole(draw, 4, 8), whole(draw, 9, 14)]);
      const n = counts.length, total = sum(counts), sorted = [...counts].sort((a, b) => a - b);
      const weighted = (order) => sum(order.map((each, place) => (2 * (place + 1) - n - 1) * each));
      return {
        given: { counts },
        rows: [["item", "A", "B", "C", "D", "E"], ["times listed", ...counts.map(String)]],
        answer: weighted(sorted) / (n * total),
        slips: [
          [weighted(counts) / (n * total), "Sort the counts first, the smallest in front."],
          [weighted(sorted) / ((n - 1) * total), "That divides by n - 1: the form that is 1 if one item has all. Here it is n."],
          [-weighted(sorted) / (n * total), "The sign is turned: the smallest count comes first."],
          [weighted(sorted) / total, "Divide by the number of items, too."],
        ],
        why: `sorted they are ${sorted.join(", ")}, with weights -4, -2, 0, 2, 4, over 5 times ${total}.`,
      };
    },
    ndcg(draw) {
      const grades = shuffled(draw, [whole(draw, 0, 1), whole(draw, 1, 3), whole(draw, 2, 5), whole(draw, 4, 5)]);
      const dcg = (list, gain) => sum(list.slice(0, 3).map((grade, place) => gain(grade) / Math.log2(place + 2)));
      const best = [...grades].sort((a, b) => b - a), same = (grade) => grade;
      const exponential = (grade) => 2 ** grade - 1;
      return {
        given: { grades },
        rows: [["place", "1", "2", "3", "4"], ["stars (0: not rated)", ...grades.map(String)]],
        answer: dcg(grades, same) / dcg(best, same),
        slips: [
          [dcg(grades, exponential) / dcg(best, exponential), "That is the exponential gain, 2 to the stars less 1. Here a gain is the stars."],
          [dcg(grades, same), "That is DCG. Divide it by that of the best order."],
          [dcg(grades, same) / dcg([...grades.slice(0, 3)].sort((a, b) => b - a), same), "The best order has all items of the user, the one at place 4 among them."],
          [sum(grades.slice(0, 3)) / sum(best.slice(0, 3)), "Discount: a gain at place k is divided by log2(k + 1)."],
        ],
        why: `DCG@3 is ${dcg(grades, same).toFixed(3)}, and that of the order ${best.join(", ")} is ${dcg(best, same).toFixed(3)}.`,
      };
    },
    turning(draw) {
      let gaps = [];
      do gaps = Array.from({ length: 8 }, () => whole(draw, -9, 9) || 1);
      while (gaps.every((gap) => gap > 0) || gaps.every((gap) => gap < 0));
      const signs = ["– – –", "– – y", "– x –", "– x y", "w – –", "w – y", "w x –", "w x y"];
      const alone = [4, 2, 1].filter((place) => gaps[place] > 0 !== gaps[0] > 0).length;
      const other = gaps.filter((gap) => gap > 0 !== gaps[0] > 0).length;
      return {
        given: { gaps },
        rows: [["decisions changed", ...signs], ["A minus B, in hundredths", ...gaps.map((gap) => String(gap).replace("-", "−"))]],
        answer: alone,
        slips: [
          [other, "These are all universes with the other winner. Asked is for those that change one decision only."],
          [3 - alone, "These keep the winner. Count those that turn it."],
          [other / 8, "That is the share of universes with the other winner."],
        ],
        why: `at the start the ${gaps[0] > 0 ? "winner is A" : "winner is B"}; w, x and y alone give ${[4, 2, 1].map((place) => (gaps[place] > 0 ? "A" : "B")).join(", ")}.`,
      };
    },
  };

  /* Gives a drill with the numbers of a seed: what is given, the answer, the slips. */
  window.drillOf = (name, seed) => {
    const drill = DRILLS[name](generator(seed));
    const close = (a, b) => Math.abs(a - b) < 0.0006;
    drill.slips = drill.slips.filter(([value]) => !close(value, drill.answer));
    return drill;
  };
  window.drillNames = Object.keys(DRILLS);

  /* Reads 0.25, 0,25, 25 %, and 1/4; NaN for anything else. */
  window.drillNumber = (text) => {
    const typed = text.trim().replace("−", "-").replace(",", ".");
    const found = /^(-?\d*\.?\d+)(?:\s*\/\s*(\d*\.?\d+)|\s*(%))?$/.exec(typed);
    return found ? Number(found[1]) / (found[3] ? 100 : Number(found[2] ?? 1)) : NaN;
  };

  /* What to say of an answer; three digits are enough. */
  window.drillSays = (drill, text) => {
    const value = window.drillNumber(text), near = (a, b) => Math.abs(a - b) <= 0.00051;
    if (!Number.isFinite(value)) return [false, "Write one number: 0.25, 25 %, or 1/4."];
    if (near(value, drill.answer)) return [true, `Right: ${drill.why}`];
    const slip = drill.slips.find(([wrong]) => near(value, wrong));
    return [false, `Not yet. ${slip ? slip[1] : "Write the list down, and count once more; three digits are enough."}`];
  };

  const element = (name, attributes, ...content) => {
    const made = document.createElement(name);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    made.append(...content);
    return made;
  };

  document.querySelectorAll(".drill[data-drill]").forEach((block, place) => {
    const work = block.querySelector(".drill-work");
    let seed = Math.floor(Math.random() * 1e6), drill;
    const table = element("div", { class: "drill-given" });
    const input = element("input", { type: "text", inputmode: "text", id: `drill-${place}`, autocomplete: "off", size: 8 });
    const label = element("label", { for: `drill-${place}` }, "Your answer");
    const check = element("button", { type: "submit", class: "btn btn-sm" }, "Check");
    const other = element("button", { type: "button", class: "btn btn-sm" }, "Other numbers");
    const said = element("p", { class: "drill-said", role: "status" });
    const form = element("form", {}, label, input, check, other);
    const draw = () => {
      drill = window.drillOf(block.dataset.drill, seed);
      const dl = element("dl", {});
      const [heads, values] = drill.rows;
      heads.forEach((head, n) => dl.append(element("div", n ? {} : { class: "head" }, element("dt", {}, head), element("dd", {}, values[n]))));
      table.replaceChildren(dl, ...(drill.text ? [element("p", {}, drill.text)] : []));
      said.textContent = "";
      said.className = "drill-said";
      input.value = "";
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const [right, text] = window.drillSays(drill, input.value);
      said.textContent = text;
      said.className = `drill-said ${right ? "is-right" : "is-wrong"}`;
    });
    other.addEventListener("click", () => {
      seed += 1;
      draw();
      input.focus();
    });
    draw();
    work.replaceChildren(table, form, said);
    work.hidden = false;
  });
})();
