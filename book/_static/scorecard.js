/* What the pages add where scripts run; without them all is there, unfiltered and folded.
   1. A link to something inside a fold opens the fold.
   2. The scorecard can be filtered, and counts what is left.
   3. On paper nothing of the scorecard stays folded. */
"use strict";

(() => {
  const openTarget = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    let folded = null;
    for (let box = target; box; box = box.parentElement) {
      if (box.tagName === "DETAILS" && !box.open) {
        box.open = true;
        folded = box;
      }
    }
    if (folded) target.scrollIntoView();
  };
  window.addEventListener("hashchange", openTarget);

  const COUNTED = "empirical"; // what one can reproduce; other classes count where they are chosen

  const addFilters = (folds) => {
    const rows = folds.flatMap((fold) => [...fold.querySelectorAll("tr.claim-row")]);
    const texts = new Map(rows.map((row) => [row, `${row.textContent} ${row.dataset.authors}`.toLowerCase()]));
    const totals = document.querySelector(".totals");
    const counted = totals.querySelector("[data-counted]");
    const words = counted.textContent;
    const bars = [...document.querySelectorAll(".bars li")];
    const paperOf = (bar) => bar.dataset.paper;
    const authors = new Map(rows.map((row) => [row.dataset.paper, row.dataset.authors]));
    const chapters = new Map(folds.filter((fold) => fold.id).map((fold) => [
      fold.querySelector("tr.claim-row").dataset.chapter, fold.querySelector("summary strong").textContent]));
    const called = { paper: (paper) => authors.get(paper), chapter: (topic) => chapters.get(topic) };
    const form = document.createElement("form");
    form.className = "filters";
    form.setAttribute("aria-label", "Filter the claims");

    const addField = (name, field) => {
      const label = document.createElement("label");
      field.name = name;
      label.append(name, " ", field);
      form.append(label);
      return field;
    };
    const search = document.createElement("input");
    search.type = "search";
    addField("text", search);
    const chosen = ["paper", "chapter", "class", "verdict"].map((name) => {
      const select = document.createElement("select");
      select.append(new Option("all", ""));
      const values = new Set(rows.map((row) => row.dataset[name]));
      values.forEach((value) => select.append(new Option(called[name]?.(value) ?? value, value)));
      return addField(name, select);
    });
    const told = document.createElement("output");
    form.append(told);

    const outcomes = (shown) => {
      const counts = {};
      shown.forEach((row) => {
        counts[row.dataset.verdict] = (counts[row.dataset.verdict] ?? 0) + 1;
      });
      return counts;
    };
    const write = (box, counts) =>
      box.querySelectorAll("[data-n]").forEach((part) => {
        const n = counts[part.dataset.n] ?? 0;
        const number = part.querySelector(".n") ?? part;
        number.textContent = number.textContent.replace(/\d+/, n);
        if (part.dataset.n !== "all" && part.tagName === "SPAN") part.hidden = !n;
        if (part.style.flexGrow) part.style.flexGrow = n;
        if (part.title) part.title = part.title.replace(/\d+/, n);
      });

    const show = () => {
      const want = Object.fromEntries(chosen.map((select) => [select.name, select.value]));
      const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      rows.forEach((row) => {
        const fits = chosen.every(({ name, value }) => !value || row.dataset[name] === value);
        row.hidden = !fits || !wanted.every((word) => texts.get(row).includes(word));
      });
      const left = rows.filter((row) => !row.hidden);
      const any = wanted.length > 0 || chosen.some((select) => select.value);
      const counting = left.filter((row) => row.dataset.class === (want.class || COUNTED));
      const others = left.length - counting.length;
      told.textContent = left.length
        ? `${left.length} of ${rows.length} claims${others ? `, ${others} of other classes` : ""}`
        : "no claim fits";
      write(totals, { ...outcomes(counting), all: counting.length });
      const what = want.class && want.class !== COUNTED ? `of the class "${want.class}"` : words;
      counted.textContent = what + (any ? ", of those that are shown" : "");
      bars.forEach((bar) => {
        const own = counting.filter((row) => row.dataset.paper === paperOf(bar));
        write(bar, { ...outcomes(own), all: own.length });
        const box = bar.querySelector(".bar");
        const parts = [...box.querySelectorAll("[data-n]:not([hidden])")].map((each) => each.title);
        box.setAttribute("aria-label", own.length ? parts.join(", ") : "none");
      });
      folds.forEach((fold) => {
        const own = [...fold.querySelectorAll("tr.claim-row:not([hidden])")];
        const apart = !fold.querySelector(`tr[data-class=${COUNTED}]`);
        fold.querySelectorAll(".counts").forEach((box) => {
          const { class: kind } = box.dataset; // apart from chapters each class counts for itself
          const counted = own.filter((row) => (apart ? row.dataset.kind === kind : counting.includes(row)));
          box.hidden = !counted.length;
          write(box, outcomes(counted));
        });
        fold.hidden = !own.length;
        if (any) fold.open = true;
      });
    };

    const chooseNamed = () => {
      const [, name, value] = location.hash.match(/^#(paper|verdict)-(\w+)$/) ?? [];
      if (!name) return;
      form.reset();
      form.elements[name].value = value;
      if (name === "verdict") form.elements.class.value = COUNTED;
      show();
      (name === "verdict" ? form : totals).scrollIntoView();
    };
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", show);
    folds[0].before(form);
    show();
    // The browser itself goes to what an address names until all is loaded.
    addEventListener("load", chooseNamed);
    window.addEventListener("hashchange", chooseNamed);
  };

  const start = () => {
    const folds = [...document.querySelectorAll("details.chapter")];
    if (folds.length && document.querySelector(".totals")) addFilters(folds);
    openTarget();
    window.addEventListener("beforeprint", () => folds.forEach((fold) => (fold.open = true)));
  };
  // Where the script is deferred it need not wait for those that come after it.
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
