/* What explorers and the guide share: making elements, and a choice that stays in the address,
   #name=option,option, and nowhere else. */
"use strict";

const choices = {
  element(name, className, ...content) {
    const node = document.createElement(name);
    if (className) node.className = className;
    node.append(...content);
    return node;
  },

  /* Put a choice into the address, without an entry in the history for each. */
  keep(name, codes) {
    history.replaceState(history.state, "", `#${name}=${codes.map(encodeURIComponent).join(",")}`);
  },

  /* The choice that the address has under a name; none, if it has none that can be read. */
  kept(name) {
    const [own, text] = location.hash.slice(1).split("=");
    if (own !== name || !text) return null;
    try {
      return text.split(",").map(decodeURIComponent);
    } catch {
      return null;
    }
  },
};
