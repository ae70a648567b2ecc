"use strict";

// The search page fetches excerpts of the pages it found, which browsers refuse for pages opened as files.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

// Paper is white.
addEventListener("beforeprint", () => {
  const root = document.documentElement, theme = root.dataset.theme;
  root.dataset.theme = "light";
  addEventListener("afterprint", () => { root.dataset.theme = theme; }, { once: true });
});

// Boxes that scroll sideways take the keyboard, but only while there is something to scroll to.
function takeKeyboard() {
  for (const box of document.querySelectorAll(".bd-article :is(pre, table, .picture, .mt-view)")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
addEventListener("load", takeKeyboard);
addEventListener("resize", takeKeyboard);
