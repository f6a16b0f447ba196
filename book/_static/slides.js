/* Starts a deck. `?notes` shows what is said below each slide; `?print-pdf` lays all out for paper;
   the key S opens the notes in a window of their own. */
const asked = new URLSearchParams(location.search);
const printed = asked.has("print-pdf") || asked.get("view") === "print";
const notes = asked.has("notes") && (printed ? "separate-page" : true);
Reveal.initialize({ ...window.deck, showNotes: notes, plugins: [RevealNotes] });
