/* Questions that readers answer before they look. The first time that the answer is opened, what was
   chosen is held against what the data of the page say (data-right), and kept under data-key in this
   browser; the end of the page counts. Nothing is sent. Where the browser keeps nothing, the count
   lasts as long as the page is open. Without this script the question is a plain group of radio
   buttons, and the answer a plain disclosure. */
(() => {
  const PREFIX = "recbias/predict/";
  let keeps = true;
  const visit = new Map(); // what this visit knows, kept or not
  const read = (key) => {
    if (visit.has(key)) return visit.get(key);
    try {
      return JSON.parse(localStorage.getItem(PREFIX + key));
    } catch {
      keeps = false;
      return null;
    }
  };
  const write = (key, state) => {
    visit.set(key, state);
    try {
      if (state) localStorage.setItem(PREFIX + key, JSON.stringify(state));
      else localStorage.removeItem(PREFIX + key);
    } catch {
      keeps = false;
    }
  };

  const questions = [...document.querySelectorAll(".predict")].map((block) => {
    const said = block.querySelector(".predict-said");
    const details = block.querySelector("details");
    const summary = details.querySelector("summary");
    const inputs = [...block.querySelectorAll("input")];
    const options = inputs.map((input) => input.nextElementSibling);
    const { right, key } = block.dataset;
    const rights = (right ?? "").split(" ").map((number) => Number(number) - 1);
    const decided = /^\d/.test(right ?? "");
    const shown = document.createElement("p");
    shown.className = "predict-chosen";
    let state = { choice: -1, looked: false };
    let printed = false; // opened for the printer alone

    // copies: an option may hold a formula
    const quoted = (option) => ["“", ...option.cloneNode(true).childNodes, "”"];
    const save = () => key && write(key, state);
    const isRight = () => decided && rights.includes(state.choice);

    const verdict = () => {
      if (state.choice < 0) return ["You looked before you predicted; this one does not count."];
      const yours = ["You predicted ", ...quoted(options[state.choice])];
      if (!right) return [...yours, "."];
      if (isRight()) return ["Right. ", ...yours, "."];
      if (right === "none") return [...yours, ". No option is right on these data; none counts."];
      if (!decided) return [...yours, ". These data leave it open; this one does not count."];
      const wanted = rights.flatMap((number, n) => [n ? ", or " : "", ...quoted(options[number])]);
      return ["Not so. ", ...yours, "; right is ", ...wanted, "."];
    };

    const show = () => {
      inputs.forEach((input, number) => {
        input.checked = number === state.choice;
        input.disabled = state.looked && Boolean(key);
        const isOne = state.looked && decided && rights.includes(number);
        options[number].parentElement.classList.toggle("is-right", isOne);
      });
      summary.textContent =
        state.choice < 0 || state.looked ? "Look at the answer" : "Now look at the answer";
      shown.replaceChildren();
      if (!state.looked) return shown.remove();
      shown.classList.toggle("is-right", isRight());
      shown.append(...verdict());
      summary.after(shown);
    };

    block.addEventListener("change", () => {
      state.choice = inputs.findIndex((input) => input.checked);
      save();
      show();
      said.textContent = details.open
        ? "Your choice is marked. The answer is open below."
        : "Your choice is marked. Now look at the answer.";
      count();
    });
    // a click, which the keyboard makes too: what the printer or a search opens is no look
    summary.addEventListener("click", () => {
      if (details.open || state.looked) return;
      state.looked = true;
      save();
      show();
      said.textContent = shown.textContent;
      count();
    });
    window.addEventListener("beforeprint", () => {
      printed = !details.open;
      details.open = true;
    });
    window.addEventListener("afterprint", () => {
      if (printed) details.open = false;
    });

    const kept = key ? read(key) : null;
    if (kept && Number.isInteger(kept.choice) && kept.choice < inputs.length) {
      state = { choice: kept.choice, looked: kept.looked === true };
      show();
    }
    return {
      block,
      asks: decided,
      marked: Boolean(right),
      waits: () => !state.looked,
      counts: () => decided && state.looked && state.choice >= 0,
      isRight,
      early: () => state.looked && state.choice < 0,
      forget: () => {
        state = { choice: -1, looked: false };
        if (key) write(key, null);
        details.open = false;
        said.textContent = "";
        show();
      },
    };
  });

  const place = document.querySelector(".predict-count");
  const element = (name, ...content) => {
    const made = document.createElement(name);
    made.append(...content);
    return made;
  };
  const link = (href, ...content) => {
    const made = element("a", ...content);
    made.href = href;
    return made;
  };
  const short = (block) => {
    const legend = block.querySelector("legend").cloneNode(true);
    legend.querySelector(".predict-head")?.remove();
    legend.querySelectorAll("mjx-assistive-mml").forEach((each) => each.remove());
    const sentences = legend.textContent.trim().match(/[^.?!]+(?:[.?!]+(?=\s|$)|[.?!](?=\S)[^.?!]*)*/g);
    return (sentences ?? [legend.textContent]).at(-1).trim();
  };
  const reread = (block) => {
    const told = block.querySelector("details a.reference.internal[href^='#']");
    if (told) return link(told.getAttribute("href"), told.textContent);
    const section = block.closest("section");
    const title = section.querySelector("h1, h2, h3, h4").cloneNode(true);
    title.querySelectorAll(".headerlink").forEach((each) => each.remove());
    return link(`#${section.id}`, title.textContent);
  };

  function count() {
    if (!place) return;
    const counted = questions.filter((each) => each.counts());
    const right = counted.filter((each) => each.isRight());
    const wrong = counted.filter((each) => !each.isRight());
    const waiting = questions.filter((each) => each.marked && each.waits());
    const told = counted.length
      ? `You predicted ${right.length} of ${counted.length} right.`
      : "You have not predicted anything on this page yet.";
    const made = [element("p", element("strong", told))];
    if (wrong.length) {
      const rows = wrong.map(({ block }) =>
        element("li", reread(block), ", for ", link(`#${block.id}`, `“${short(block)}”`)));
      made.push(element("p", "To reread:"), element("ul", ...rows));
    }
    if (waiting.length) {
      const rows = waiting.map(({ block }) =>
        element("li", link(`#${block.id}`, short(block))));
      made.push(element("p", "Not looked at yet:"), element("ul", ...rows));
    }
    const early = questions.filter((each) => each.early()).length;
    if (early) made.push(element("p", `Looked at before a prediction: ${early}.`));
    if (!keeps) {
      made.push(element("p", "This browser keeps nothing for this page: the count ends with your visit."));
    }
    if (waiting.length < questions.filter((each) => each.marked).length) {
      const button = element("button", "Forget my predictions");
      button.type = "button";
      button.className = "btn btn-sm";
      button.addEventListener("click", () => {
        questions.forEach((each) => each.forget());
        count();
        place.focus();
      });
      made.push(button);
    }
    place.tabIndex = -1;
    place.replaceChildren(...made);
    place.hidden = false;
  }
  count();
})();
