/* Starts a deck. `?notes` shows what is said below each slide, `?print-pdf` lays all out for paper, and
   the key S opens the notes in a window of their own, with a clock: it is filled from here, since a
   page on disk may not load another one into a frame. */
(() => {
  const asked = new URLSearchParams(location.search);
  const printed = asked.has("print-pdf") || asked.get("view") === "print";
  const notes = asked.has("notes") && (printed ? "separate-page" : true);
  let speaker = null, since = 0, clock = 0;

  const STYLE = `body { margin: 1.5rem; font: 20px/1.45 sans-serif; color: #111; background: #fff }
    header { display: flex; gap: 2rem; font-size: 28px } h1 { font-size: 24px } .next { color: #444 }`;
  const titleOf = (slide) => slide?.querySelector("h1, h2")?.textContent ?? "the end";
  const show = () => {
    if (!speaker || speaker.closed) return;
    const page = speaker.document, { h } = Reveal.getIndices(), slides = Reveal.getSlides();
    const now = Math.floor((Date.now() - since) / 1000);
    page.querySelector("time").textContent = `${Math.floor(now / 60)}:${String(now % 60).padStart(2, "0")}`;
    if (page.body.dataset.slide === String(h)) return;
    page.body.dataset.slide = h;
    page.querySelector(".place").textContent = `${h + 1} / ${slides.length}`;
    page.querySelector("h1").textContent = titleOf(slides[h]);
    page.querySelector(".said").innerHTML = slides[h].querySelector("aside.notes").innerHTML;
    page.querySelector(".next").textContent = `Next: ${titleOf(slides[h + 1])}`;
  };
  const open = () => {
    speaker = window.open("", "recbias-notes", "width=800,height=700");
    if (!speaker) return;
    speaker.document.title = "Notes";
    speaker.document.documentElement.lang = "en";
    speaker.document.head.innerHTML = `<style>${STYLE}</style>`;
    speaker.document.body.innerHTML =
      '<main><header><time></time><span class="place"></span></header><h1></h1><div class="said"></div><p class="next"></p></main>';
    delete speaker.document.body.dataset.slide;
    since ||= Date.now();
    clearInterval(clock);
    clock = setInterval(show, 1000);
    show();
  };

  Reveal.initialize({ ...window.deck, showNotes: notes });
  Reveal.addKeyBinding({ keyCode: 83, key: "S", description: "Notes in a window of their own" }, open);
  Reveal.on("slidechanged", show);
})();
