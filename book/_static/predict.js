/* Questions that readers answer before they look: says what was chosen, and shows it again beside
   the answer. Nothing is sent or stored. Without this script the question is a plain group of radio
   buttons, and the answer a plain disclosure. */
for (const block of document.querySelectorAll(".predict")) {
  const said = block.querySelector(".predict-said");
  const details = block.querySelector("details");
  const summary = details.querySelector("summary");
  const shown = document.createElement("p");
  shown.className = "predict-chosen";
  let printed = false; // opened for the printer alone

  const chosen = () => block.querySelector("input:checked + span");
  const show = () => {
    const own = chosen();
    shown.replaceChildren();
    if (own) {
      // a copy: an option may hold a formula
      shown.append("You chose: ", ...own.cloneNode(true).childNodes);
      summary.after(shown);
    }
  };

  block.addEventListener("change", () => {
    show();
    summary.textContent = "Now look at the answer";
    said.textContent = details.open
      ? "Your choice is marked. The answer is open below."
      : "Your choice is marked. Now look at the answer.";
  });
  window.addEventListener("beforeprint", () => {
    printed = !details.open;
    details.open = true;
  });
  window.addEventListener("afterprint", () => {
    if (printed) details.open = false;
  });
}
