/* Explorers: what recbias.book.explorer wrote into the page is shown as readers choose.

   Without this script the plain tables stand there. Nothing is fetched; the choice is kept in the
   address, #name=option,option, and nowhere else. */
(() => {
  "use strict";

  const { element } = choices;

  /* The end of a scale: the next number with a round first digit or two. */
  const rounded = (number) => {
    const unit = 10 ** Math.floor(Math.log10(number));
    return unit * [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((f) => f * unit >= number * 0.9999);
  };

  class Explorer {
    constructor(root) {
      Object.assign(this, JSON.parse(root.querySelector("script").textContent));
      this.root = root;
      this.form = root.querySelector("form");
      this.stage = root.querySelector(".explorer-stage");
      this.sets = [...this.form.querySelectorAll("fieldset:not(.explorer-scale)")];
      this.places = this.order(this.states[this.compared]);
      this.build();
      const follow = (event) => {
        this.show();
        if (event.target.name !== "one-scale") this.keep();
      };
      // A slider tells of each place it passes, a button once.
      this.form.addEventListener("input", follow);
      addEventListener("hashchange", () => this.recall());
      this.form.addEventListener("submit", (event) => event.preventDefault());
      this.form.hidden = this.stage.hidden = false;
      root.querySelector(".explorer-numbers").open = false;
      this.show();
      this.recall();
    }

    /* What stays: a line that is announced, the key, and a row for each system. */
    build() {
      this.said = element("div", "explorer-said");
      this.said.setAttribute("role", "status");
      this.key = element("ul", "explorer-key");
      this.list = element("ol", "explorer-bars");
      this.rows = this.systems.map((system) => {
        const row = element("li");
        row.parts = {};
        for (const part of ["rank", "name", "value", "moved", "track"]) {
          row.append((row.parts[part] = element("span", `explorer-${part}`)));
        }
        row.parts.name.textContent = system;
        for (const part of ["bar", "interval", "expected", "ceiling"]) {
          row.parts.track.append((row.parts[part] = element("i", `explorer-${part}`)));
        }
        row.parts.track.setAttribute("aria-hidden", "true");
        return row;
      });
      const ends = ["0", "", ""].map((text) => element("span", "", text));
      this.scale = element("div", "explorer-axis", ...ends);
      this.scale.setAttribute("aria-hidden", "true");
      this.chart = element("div", "", this.key, this.list, this.scale);
      this.stage.append(this.said, this.chart);
    }

    /* Numbers of the systems, the best one first, if they are not in an order of their own. */
    order(state) {
      if (!this.ordered) return state.values.map((_, place) => place);
      const values = state.values.map((value) => value ?? -Infinity);
      return values.map((_, place) => place).sort((a, b) => values[b] - values[a] || a - b);
    }

    /* Whether all have the same value, so that there is no order. */
    tied(state) {
      const [first, ...others] = state.values;
      return first !== null && others.length > 0 && others.every((value) => value === first);
    }

    decimals(number) {
      return number.toFixed(this.digits).replace("-", "\u2212");
    }

    /* The code chosen of each axis. */
    chosen() {
      return this.sets.map((set) => {
        const slider = set.querySelector("input[type=range]");
        if (!slider) return set.querySelector("input:checked").value;
        const [code, words] = JSON.parse(slider.dataset.options)[Number(slider.value)];
        slider.setAttribute("aria-valuetext", words);
        set.querySelector("output").textContent = words;
        return code;
      });
    }

    choose(codes) {
      this.sets.forEach((set, place) => {
        const slider = set.querySelector("input[type=range]");
        if (slider) {
          const options = JSON.parse(slider.dataset.options);
          slider.value = String(options.findIndex(([code]) => code === codes[place]));
        } else {
          const button = [...set.querySelectorAll("input")].find((each) => each.value === codes[place]);
          button.checked = true;
        }
      });
      this.show();
    }

    /* Put the choice into the address. */
    keep() {
      choices.keep(this.root.id, this.chosen());
    }

    /* Show what the address says, if it says something that there is. */
    recall() {
      const codes = choices.kept(this.root.id);
      if (!codes || !Object.hasOwn(this.states, codes.join("|"))) return;
      this.choose(codes);
      this.root.scrollIntoView();
    }

    show() {
      const codes = this.chosen();
      const state = this.states[codes.join("|")];
      // The page below stays where it is while there is nothing to draw.
      this.stage.style.minHeight = "why" in state ? `${this.stage.offsetHeight}px` : "";
      this.chart.hidden = "why" in state;
      if ("why" in state) {
        this.said.replaceChildren(
          element("p", "", element("strong", "", "There is no such design here. "), state.why),
        );
        return;
      }
      const order = this.order(state);
      this.describe(state, order);
      this.draw(state, order, this.span(state, codes));
    }

    /* The state in words. */
    describe(state, order) {
      const metric = state.metric.split("|")[0];
      const words = state.words[0].toUpperCase() + state.words.slice(1) + ".";
      const best = this.systems[order[0]];
      const value = this.decimals(state.values[order[0]]);
      const protocol = state.code ? [element("code", "", state.code), `, ${metric}. `] : [];
      const tau = state.tau === null ? "not defined" : state.tau.toFixed(2);
      const told = !this.ordered ? [] : this.tied(state)
        ? [`All have ${value}.`]
        : [`First is ${best}, with ${value}. `, `Kendall’s tau with the order ${this.against}: `,
          element("strong", "explorer-tau", tau), "."];
      this.said.replaceChildren(
        element("p", "", element("strong", "", words)),
        ...(protocol.length + told.length ? [element("p", "", ...protocol, ...told)] : []),
        ...(state.note ? [element("p", "explorer-note", state.note)] : []),
      );
    }

    /* Where the scale begins, which is 0 unless a value is below it, and where it ends. */
    span(state, codes) {
      const numbers = (each) => [each.values, each.high].flat().filter((n) => n !== null);
      const top = (each) => Math.max(0, ...numbers(each), each.expected ?? 0);
      const foot = (each) => Math.min(0, ...each.values.filter((n) => n !== null));
      let [least, most] = [foot(state), top(state)];
      if (this.form.querySelector("[name=one-scale]").checked) {
        const slides = this.form.querySelector("input[type=range]");
        const same = (name) => slides || name.split("|").pop() === codes[codes.length - 1];
        const others = Object.entries(this.states)
          .filter(([name, each]) => same(name) && !("why" in each))
          .map(([, each]) => each);
        [least, most] = [Math.min(...others.map(foot)), Math.max(...others.map(top))];
      } else if (state.ceiling !== null && state.ceiling < 2 * most) {
        most = Math.max(most, state.ceiling);
      }
      return [least && -rounded(-least), rounded(most || 1)];
    }

    draw(state, order, [least, most]) {
      const share = (number) => `${(100 * number) / (most - least)}%`;
      const at = (number) => share(number - least);
      const line = (name, number) => {
        const drawn = number !== null && number <= most;
        this.list.style.setProperty(`--${name}`, drawn ? at(number) : "0");
        this.list.classList.toggle(`has-${name}`, drawn);
        if (number === null) return [];
        const beyond = drawn ? "" : ", beyond the end of the scale";
        const swatch = element("i", drawn ? `explorer-swatch explorer-${name}` : "");
        const text = `${this.lines[name]}: ${this.decimals(number)}${beyond}`;
        return [element("li", "", swatch, text)];
      };
      this.key.replaceChildren(
        ...line("expected", state.expected),
        ...line("ceiling", state.ceiling),
        ...(state.low.some((low) => low !== null)
          ? [element("li", "", element("i", "explorer-swatch explorer-interval"), "95 % interval")]
          : []),
        ...(this.ordered
          ? [element("li", "explorer-against", `▲ ▼ places up or down: against the order ${this.against}`)]
          : []),
      );
      this.list.style.setProperty("--zero", at(0));
      const before = this.rows.map((row) => row.getBoundingClientRect().top);
      const tied = !this.ordered || this.tied(state);
      order.forEach((place, rank) => {
        const { parts } = this.rows[place];
        const [value, low, high] = [state.values[place], state.low[place], state.high[place]];
        parts.rank.textContent = tied ? "" : `${rank + 1}.`;
        parts.value.textContent = value === null ? "none" : this.decimals(value);
        parts.moved.replaceChildren(...(tied ? [] : this.moved(place, rank)));
        parts.bar.style.left = at(Math.min(value ?? 0, 0));
        parts.bar.style.width = share(Math.abs(value ?? 0));
        parts.interval.hidden = low === null;
        parts.interval.style.left = at(Math.max(low ?? 0, least));
        parts.interval.style.width = share((high ?? 0) - Math.max(low ?? 0, least));
      });
      this.list.replaceChildren(...order.map((place) => this.rows[place]));
      const [from, middle, to] = this.scale.children;
      from.textContent = String(Number(least.toPrecision(3))).replace("-", "\u2212");
      middle.textContent = state.metric.split("|")[0];
      to.textContent = String(Number(most.toPrecision(3)));
      this.slide(before);
    }

    /* How far a row has moved from its place where orders are compared. */
    moved(place, rank) {
      const steps = this.places.indexOf(place) - rank;
      if (steps === 0) return [];
      const arrow = element("span", "", steps > 0 ? "▲ " : "▼ ");
      arrow.setAttribute("aria-hidden", "true");
      return [arrow, steps > 0 ? `${steps} up` : `${-steps} down`];
    }

    /* Rows move from where they were, for readers who do not mind movement. */
    slide(before) {
      if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
      this.rows.forEach((row, place) => {
        const distance = before[place] - row.getBoundingClientRect().top;
        if (!distance || !before[place]) return;
        row.animate([{ transform: `translateY(${distance}px)` }, { transform: "none" }], {
          duration: 350,
          easing: "ease-out",
        });
      });
    }
  }

  document.querySelectorAll(".explorer").forEach((root) => new Explorer(root));
  // What a page suggests to try, which nobody could without this script.
  document.documentElement.classList.add("has-explorers");
})();
