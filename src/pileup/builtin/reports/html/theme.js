"use strict";
// Light or dark, in the head of every page: what the address asks for (#dark), else what was chosen last, else what the
// browser prefers. The navigation gets a button that changes it.
(() => {
  const page = document.documentElement.dataset;
  const asked = (location.hash + "&" + location.search).match(/\b(dark|light)\b/);
  let kept = null;
  try { kept = localStorage.getItem("pileup-theme"); } catch (e) { /* a file opened where nothing may be kept */ }
  const theme = asked ? asked[1] : kept;
  if (theme) page.theme = theme;
  const dark = () => page.theme ? page.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  addEventListener("DOMContentLoaded", () => {
    const button = Object.assign(document.createElement("button"), { type: "button", title: "Light or dark", textContent: "◐" });
    button.setAttribute("aria-label", "Light or dark");
    button.addEventListener("click", () => {
      page.theme = dark() ? "light" : "dark";
      try { localStorage.setItem("pileup-theme", page.theme); } catch (e) { /* as above */ }
    });
    document.querySelector("nav").append(button);
  });
})();
