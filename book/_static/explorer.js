/* Explorers: what recbias.exploring wrote into the page is shown as readers choose.

   Without this script the plain tables stand there. Nothing is fetched, and nothing kept. */
(() => {
  "use strict";

  const element = (name, className, ...content) => {
    const node = document.createElement(name);
    if (className) node.className = className;
    node.append(...content);
    return node;
  };

  const decimals = (number) => number.toFixed(4);

  /* The end of a scale: the next number with a round first digit or two. */
  const rounded = (number) => {
    const unit = 10 ** Math.floor(Math.log10(number));
    return unit * [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((f) => f * unit >= number * 0.9999);
  };

  class Explorer {
    constructor(root) {
      Object.assign(this, JSON.parse(root.querySelector("script").textContent));
      this.form = root.querySelector("form");
      this.stage = root.querySelector(".explorer-stage");
      this.places = this.order(this.states[this.start]);
      this.build();
      this.form.addEventListener("change", () => this.show());
      this.form.addEventListener("submit", (event) => event.preventDefault());
      this.form.hidden = this.stage.hidden = false;
      root.querySelector(".explorer-numbers").open = false;
      this.show();
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

    /* Numbers of the systems, the best one first. */
    order(state) {
      const values = state.values.map((value) => value ?? -Infinity);
      return values.map((_, place) => place).sort((a, b) => values[b] - values[a] || a - b);
    }

    chosen() {
      return [...this.form.querySelectorAll("input[type=radio]:checked")].map((each) => each.value);
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
      this.draw(state, order, this.most(state, codes));
    }

    /* The state in words. */
    describe(state, order) {
      const [metric, first] = [state, this.states[this.start]].map((s) => s.metric.split("|")[0]);
      const words = state.words[0].toUpperCase() + state.words.slice(1) + ".";
      const best = this.systems[order[0]];
      this.said.replaceChildren(
        element("p", "", element("strong", "", words)),
        element("p", "", element("code", "", state.code), `, ${metric}. First is ${best}, with `,
          `${decimals(state.values[order[0]])}. Kendall’s tau with the order under `,
          `${this.states[this.start].title}, ${first}: `,
          element("strong", "explorer-tau", state.tau === null ? "not defined" : state.tau.toFixed(2)),
          "."),
      );
    }

    /* Where the scale ends. */
    most(state, codes) {
      const top = (each) => Math.max(0, ...each.values, ...each.high, each.expected ?? 0);
      let most = top(state);
      if (this.form.querySelector("[name=one-scale]").checked) {
        const last = codes[codes.length - 1];
        const others = Object.entries(this.states).filter(
          ([name, each]) => name.split("|").pop() === last && !("why" in each),
        );
        most = Math.max(...others.map(([, each]) => top(each)));
      } else if (state.ceiling !== null && state.ceiling < 2 * most) {
        most = Math.max(most, state.ceiling);
      }
      return rounded(most || 1);
    }

    draw(state, order, most) {
      const share = (number) => `${(100 * number) / most}%`;
      const line = (name, text, number) => {
        const drawn = number !== null && number <= most;
        this.list.style.setProperty(`--${name}`, drawn ? share(number) : "0");
        this.list.classList.toggle(`has-${name}`, drawn);
        if (number === null) return [];
        const beyond = drawn ? "" : ", beyond the end of the scale";
        const swatch = element("i", drawn ? `explorer-swatch explorer-${name}` : "");
        return [element("li", "", swatch, `${text}: ${decimals(number)}${beyond}`)];
      };
      this.key.replaceChildren(
        ...line("expected", "a random ranking, expected", state.expected),
        ...line("ceiling", "no system can exceed 1/n", state.ceiling),
        element("li", "", element("i", "explorer-swatch explorer-interval"), "95 % interval"),
      );
      const before = this.rows.map((row) => row.getBoundingClientRect().top);
      order.forEach((place, rank) => {
        const { parts } = this.rows[place];
        const [value, low, high] = [state.values[place], state.low[place], state.high[place]];
        parts.rank.textContent = `${rank + 1}.`;
        parts.value.textContent = value === null ? "none" : decimals(value);
        parts.moved.replaceChildren(...this.moved(place, rank));
        parts.bar.style.width = share(value ?? 0);
        parts.interval.hidden = low === null;
        parts.interval.style.left = share(low ?? 0);
        parts.interval.style.width = share((high ?? 0) - (low ?? 0));
      });
      this.list.replaceChildren(...order.map((place) => this.rows[place]));
      this.scale.children[1].textContent = state.metric.split("|")[0];
      this.scale.lastChild.textContent = String(Number(most.toPrecision(3)));
      this.slide(before);
    }

    /* How far a system has moved from its place at the start. */
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
})();
