/* Two things that the pages add where scripts run; without them all is there, unfiltered and folded.
   1. A link to something inside a fold opens the fold.
   2. The scorecard can be filtered. */
"use strict";

(() => {
  const openTarget = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    let folded = target.querySelector(":scope > tr > td > details");
    for (let box = folded || target; box; box = box.parentElement) {
      if (box.tagName === "DETAILS" && !box.open) {
        box.open = true;
        folded = box;
      }
    }
    if (folded) target.scrollIntoView();
  };
  window.addEventListener("hashchange", openTarget);

  const words = (text) => text.replaceAll("-", " ");

  const addFilters = (folds) => {
    const rows = folds.flatMap((fold) => [...fold.querySelectorAll("tbody.claim-row")]);
    const verdictsOf = new Map(
      rows.map((row) => [row, new Map(row.dataset.verdicts.split(" ").map((pair) => pair.split(":")))]),
    );
    const values = (name) => [...new Set(rows.map((row) => row.dataset[name]))];
    const datasets = [...verdictsOf.get(rows[0]).keys()];
    const heads = [...folds[0].querySelectorAll("th.data-set")].map((head) => head.textContent);
    const called = (name, each) =>
      name === "verdict" ? words(each) : name === "dataset" ? heads[datasets.indexOf(each)] : each;
    const verdicts = [...new Set(rows.flatMap((row) => [...verdictsOf.get(row).values()]))];
    const choices = {
      paper: values("paper"),
      chapter: values("chapter"),
      class: values("class"),
      verdict: verdicts,
      dataset: datasets,
    };
    const form = document.createElement("form");
    form.className = "filters";
    form.setAttribute("aria-label", "Filter the claims");
    const chosen = {};
    for (const [name, options] of Object.entries(choices)) {
      const label = document.createElement("label");
      label.append(name, " ");
      const select = document.createElement("select");
      select.name = name;
      select.append(new Option("all", ""));
      options.forEach((each) => select.append(new Option(called(name, each), each)));
      label.append(select);
      form.append(label);
      chosen[name] = select;
    }
    const told = document.createElement("output");
    form.append(told);
    const show = () => {
      const want = Object.fromEntries(Object.entries(chosen).map(([name, select]) => [name, select.value]));
      let count = 0;
      for (const row of rows) {
        const found = verdictsOf.get(row);
        const looked = want.dataset ? [found.get(want.dataset)] : [...found.values()];
        row.hidden =
          ["paper", "chapter", "class"].some((name) => want[name] && row.dataset[name] !== want[name]) ||
          Boolean(want.verdict && !looked.includes(want.verdict));
        count += !row.hidden;
      }
      told.textContent = `${count} of ${rows.length} claims`;
      const column = datasets.indexOf(want.dataset);
      folds.flatMap((fold) => [...fold.querySelectorAll("tr")]).forEach((line) => {
        const cells = [...line.querySelectorAll(".data-set, td[class]:has(> a)")];
        cells.forEach((cell, place) => cell.classList.toggle("dimmed", column >= 0 && place !== column));
      });
      const chosenAny = Object.values(want).some(Boolean);
      folds.forEach((fold) => {
        fold.hidden = !fold.querySelector("tbody.claim-row:not([hidden])");
        if (chosenAny) fold.open = true;
      });
    };
    form.addEventListener("change", show);
    folds[0].before(form);
    show();
  };

  document.addEventListener("DOMContentLoaded", () => {
    const folds = [...document.querySelectorAll("details.chapter")];
    if (folds.length) addFilters(folds);
    openTarget();
  });
})();
