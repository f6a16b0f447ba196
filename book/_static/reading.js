/* What scripts add to reading; every page is complete without it.

   1. One switch for all code of a page.
   2. Boxes that scroll sideways can be reached by keyboard and say what they are.
   3. Formulas know how wide they are, so that the style sheet can fit them to any page.
   4. The search says first what is defined by a name, and shows the sentence in which a word
      stands, with the way to its section. */
(() => {
  "use strict";

  // -- 1. code --------------------------------------------------------------------------------------
  const remembered = `code:${location.pathname}`;

  const switchCode = (button, open) => {
    document.querySelectorAll("details.hide").forEach((cell) => (cell.open = open));
    button.setAttribute("aria-pressed", String(open));
  };

  const startSwitch = () => {
    const button = document.querySelector("button.code-switch");
    if (!button) return;
    button.hidden = !document.querySelector("details.hide");
    button.addEventListener("click", () => {
      const open = button.getAttribute("aria-pressed") !== "true";
      switchCode(button, open);
      try {
        sessionStorage.setItem(remembered, open ? "open" : "");
      } catch {
        // a browser may refuse to remember anything of a page on disk
      }
    });
    try {
      if (sessionStorage.getItem(remembered)) switchCode(button, true);
    } catch {
      // as above
    }
  };

  // -- 2. boxes that scroll -------------------------------------------------------------------------
  const BOXES = ".scrolls, .pst-scrollable-table-container";

  const nameOf = (box) => {
    const caption = box.closest("figure")?.querySelector("figcaption") ?? box.querySelector("caption");
    const title = caption?.textContent.replace("#", "").trim().split(/(?<=\.)\s/)[0];
    return `${title || "Table"} (scrolls sideways)`;
  };

  const markBox = (box) => {
    const scrolls = box.scrollWidth > box.clientWidth + 1;
    if (scrolls === box.classList.contains("wide")) return;
    box.classList.toggle("wide", scrolls);
    if (scrolls) {
      box.tabIndex = 0;
      box.setAttribute("role", "group");
      box.setAttribute("aria-label", nameOf(box));
    } else {
      ["tabindex", "role", "aria-label"].forEach((name) => box.removeAttribute(name));
    }
  };

  // The theme does this once, when code that is folded away has no width yet.
  const markCode = (code) => {
    code.tabIndex = code.scrollWidth > code.clientWidth ? 0 : -1;
  };

  const watch = (selector, mark) => {
    const observer = new ResizeObserver((entries) => entries.forEach(({ target }) => mark(target)));
    document.querySelectorAll(selector).forEach((box) => {
      observer.observe(box);
      mark(box);
    });
  };

  const startBoxes = () => {
    watch(BOXES, markBox);
    watch(".bd-article pre", markCode);
  };

  // -- 3. formulas ----------------------------------------------------------------------------------
  const measure = (formula) => {
    if (formula.style.getPropertyValue("--ems")) return;
    const inner = formula.querySelector("mjx-math, mjx-mtable") ?? formula;
    const size = parseFloat(getComputedStyle(formula).fontSize);
    const width = Math.max(inner.scrollWidth, inner.getBoundingClientRect().width);
    if (!width) return; // folded away: measured when it is unfolded
    formula.style.setProperty("--size", formula.style.fontSize || "1em");
    formula.style.setProperty("--ems", (width / size + 0.05).toFixed(2));
    formula.classList.add("measured");
    if (formula.getAttribute("display") !== "true") {
      const box = formula.closest("p, dd, li, td, figcaption");
      if (box && box.tagName !== "TD" && width > box.clientWidth) box.classList.add("holds-formula");
    }
  };

  const measureAll = (root) => root.querySelectorAll(".bd-article mjx-container").forEach(measure);

  const startFormulas = async () => {
    if (!window.MathJax?.startup?.promise) return;
    await MathJax.startup.promise;
    await document.fonts.ready;
    measureAll(document);
    document.addEventListener("toggle", ({ target }) => measureAll(target.parentElement), true);
    document.addEventListener("click", () => requestAnimationFrame(() => measureAll(document)));
  };

  // -- 4. search ------------------------------------------------------------------------------------
  const AROUND = 90; // characters on either side of a word

  // A Greek letter is found by its name.
  const placeOf = (text, word) => {
    const letter = searchLetters[word];
    const place = text.toLowerCase().indexOf(word);
    return place < 0 && letter ? text.indexOf(letter) : place;
  };

  const bestSection = (sections, words) => {
    const count = ([, title, text]) =>
      words.filter((word) => placeOf(`${title} ${text}`, word) >= 0).length;
    return sections.reduce((best, each) => (count(each) > count(best) ? each : best), sections[0]);
  };

  const snippet = (text, words) => {
    const found = words.filter((word) => placeOf(text, word) >= 0);
    if (!found.length) return null;
    const rarest = found.reduce((best, word) => (word.length > best.length ? word : best));
    const place = placeOf(text, rarest);
    const [first, last] = [Math.max(0, place - AROUND), place + AROUND];
    return `${first > 0 ? "… " : ""}${text.slice(first, last)}${last < text.length ? " …" : ""}`;
  };

  const addContext = (item, words) => {
    const link = item.querySelector("a");
    if (!link || link.hash || item.querySelector(".context")) return;
    const page = Object.keys(searchText).find((name) => link.pathname.endsWith(`/${name}.html`));
    const [anchor, title, text] = (page && bestSection(searchText[page], words)) || [];
    const shown = text && snippet(text, words);
    if (!shown) return;
    const context = document.createElement("p");
    context.className = "context";
    const where = document.createElement("a");
    where.href = `${link.getAttribute("href").split("#")[0]}#${anchor}`;
    where.textContent = title;
    context.append(where, `: ${shown}`);
    item.append(context);
  };

  const MOST = 3; // definitions
  const LONGEST = 260; // characters of one

  const wordsOf = (text) => text.toLowerCase().split(/[^\p{Letter}\p{Number}]+/u).filter(Boolean);

  const singular = (word) => (word.length > 3 ? word.replace(/s$/, "") : word);

  // How well a name fits: all its words and no other; all that are asked for; or it does not.
  const fit = (name, words) => {
    const [asked, own] = [words, wordsOf(name)].map((each) => each.map(singular));
    if (!asked.every((word) => own.includes(word))) return 0;
    return asked.length / own.length;
  };

  const addDefinitions = (results, words) => {
    const found = searchTerms
      .map((term) => [Math.max(...term[0].map((name) => fit(name, words))), ...term])
      .filter(([fits]) => fits > 0)
      .sort((one, other) => other[0] - one[0])
      .slice(0, MOST);
    if (!found.length) return;
    const list = document.createElement("dl");
    list.className = "search-definitions";
    found.forEach(([, names, page, anchor, text]) => {
      const [term, meaning] = ["dt", "dd"].map((name) => document.createElement(name));
      const link = document.createElement("a");
      link.href = `${page}.html#${anchor}`;
      link.textContent = names.join(", ");
      term.append(link);
      meaning.textContent = text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text;
      list.append(term, meaning);
    });
    results.before(list);
  };

  const startSearch = () => {
    const results = document.getElementById("search-results");
    const query = new URLSearchParams(location.search).get("q");
    if (!results || !query) return;
    const words = wordsOf(query);
    const texts = document.createElement("script");
    texts.src = "search-text.js"; // a script, since nothing can be fetched from disk
    texts.onload = () => {
      const add = () => results.querySelectorAll("li").forEach((item) => addContext(item, words));
      addDefinitions(results, words);
      new MutationObserver(add).observe(results, { childList: true, subtree: true });
      add();
    };
    document.body.append(texts);
  };

  addEventListener("DOMContentLoaded", startSwitch);
  addEventListener("DOMContentLoaded", startSearch);
  addEventListener("load", () => {
    startBoxes();
    startFormulas();
  });
})();
