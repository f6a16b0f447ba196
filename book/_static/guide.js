/* The guide: of all answers, which stand on the page as tables, the one that fits is shown.

   Without this script the tables stand there. Nothing is fetched; the six answers are kept in the
   address, and nowhere else. */
(() => {
  "use strict";

  const { element } = choices;

  const copy = (node) => [...node.cloneNode(true).childNodes];

  /* Numbers as the table has them, "1-2, 5", counted from 0. */
  const numbersOf = (text) =>
    [...text.matchAll(/(\d+)(?:-(\d+))?/g)].flatMap(([, first, last = first]) =>
      Array.from({ length: last - first + 1 }, (_, step) => Number(first) + step - 1),
    );

  const start = (root) => {
    const { states, letters, chosen } = JSON.parse(root.querySelector("script").textContent);
    const [form, stage] = [root.querySelector("form"), root.querySelector(".guide-answer")];
    const groups = [...form.querySelectorAll("fieldset")].map((set) => [
      ...set.querySelectorAll("input"),
    ]);
    const rows = root.querySelectorAll(".guide-lines tbody tr");
    const notes = root.querySelectorAll(".guide-notes li");
    const told = root.querySelectorAll(".guide-sentences li");
    const inFull = root.querySelector(".guide-in-full").textContent;

    // What is announced is the line; the rest is read where it stands.
    const said = element("p", "guide-line");
    said.setAttribute("role", "status");
    const more = element("div", "guide-more");
    stage.append(said, more);

    const show = () => {
      const place = groups.reduce(
        (sum, inputs) => sum * inputs.length + inputs.findIndex((input) => input.checked),
        0,
      );
      const [design, line, ...noted] = states[letters.indexOf(chosen[place])];
      if (design === undefined) {
        said.replaceChildren(...copy(root.querySelector(".guide-none")));
        more.replaceChildren();
        return;
      }
      const row = rows[design];
      const written = row.querySelector(`[data-line="${line}"]`);
      const code = written.textContent;
      const paragraph = element("blockquote", "guide-paragraph");
      numbersOf(written.nextSibling.textContent).forEach((number) =>
        paragraph.append(...copy(told[number]), " "),
      );
      noted.forEach((each) => {
        const said = notes[each].querySelector(".guide-said");
        if (said) paragraph.append(said.textContent, " ");
      });
      paragraph.append(`${inFull} `, element("code", "", code), ".");
      const list = element("dl", "", ...copy(row.querySelector("dl")));
      list.append(
        element("dt", "", "And"),
        element("dd", "", element("ul", "", ...noted.map((each) => notes[each].cloneNode(true)))),
        element("dt", "", "For the methods section, with your data in the first sentence"),
        element("dd", "", paragraph),
      );
      said.replaceChildren(element("code", "", code));
      more.replaceChildren(list);
    };

    /* Give the answers that the address has, if each question has its own. */
    const recall = () => {
      const codes = choices.kept(root.id) ?? [];
      const found = groups.map((inputs, n) => inputs.find((input) => input.value === codes[n]));
      if (!found.every(Boolean)) return;
      found.forEach((input) => (input.checked = true));
      show();
      root.scrollIntoView();
    };

    form.addEventListener("change", () => {
      show();
      choices.keep(root.id, groups.map((inputs) => inputs.find((input) => input.checked).value));
    });
    addEventListener("hashchange", recall);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.hidden = stage.hidden = false;
    root.querySelector(".guide-all").open = false;
    show();
    recall();
  };

  document.querySelectorAll(".guide-questions").forEach(start);
})();
