// Titles of columns for narrow screens, and excerpts of search results where pages are opened from a disk.
"use strict";

(() => {
  const FEW = 2; // columns of tables that stay tables

  function nameColumns() {
    for (const table of document.querySelectorAll("table.docutils")) {
      const titles = [...table.querySelectorAll("thead th")].map((head) => head.textContent.trim());
      if (titles.length <= FEW) continue;
      table.classList.add("rows");
      for (const row of table.querySelectorAll("tbody tr")) {
        [...row.children].forEach((cell, place) => {
          cell.dataset.column = titles[place] ?? "";
          // text and elements side by side are one piece
          if (cell.childNodes.length && !cell.querySelector(":scope > span.cell")) {
            const whole = document.createElement("span");
            whole.className = "cell";
            whole.append(...cell.childNodes);
            cell.append(whole);
          }
        });
      }
    }
  }

  /** A browser reads no file beside a page that it has from a disk, but scripts: the texts of all pages are in one. */
  function readFromDisk() {
    const texts = new Promise((resolve) => {
      const script = document.createElement("script");
      script.src = `${document.documentElement.dataset.content_root ?? "./"}_static/excerpts.js`;
      script.onload = () => resolve(window.EXCERPTS ?? {});
      script.onerror = () => resolve({});
      document.head.append(script);
    });
    const fetched = window.fetch.bind(window);
    window.fetch = async (address, ...options) => {
      const found = await texts;
      const name = String(address).replace(/^\.\//, "");
      return Object.hasOwn(found, name) ? new Response(found[name]) : fetched(address, ...options);
    };
  }

  if (location.protocol === "file:" && /\/search\.html$/.test(location.pathname)) readFromDisk();
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", nameColumns);
  else nameColumns();
})();
