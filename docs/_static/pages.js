// Long names in tables break between their parts, rows of narrow screens have the titles of columns, and there are
// excerpts of search results where pages are opened from a disk.
"use strict";

(() => {
  const FEW = 2; // columns of tables that stay tables
  const MANY = 5; // columns from beyond which text is smaller, and breaks anywhere
  const MOST = 7; // and smaller still

  const LONG = 10; // characters of a word that may break where it is all that a cell has, or where a table is too wide
  const LONGER = 24; // and among other words, where a break inside looks like two of them
  const SHORT = 24; // characters of a cell that may stand beside another one on a narrow screen, and of a word that stays whole

  /** Lets words of several parts, such as DML_TENSOR_DESC or InputTensor, break between these and nowhere else. */
  function breakNames(element, longestOf) {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    for (const text of texts) {
      const longest = longestOf(text.parentElement.closest("td, th, h1")?.textContent.trim() ?? "");
      const parts = text.data.split(/(?<=\s)/).flatMap((word) => (word.trim().length > longest
        ? word.split(/(?<=[^\s_][_/.:,(=])(?=[^\s_])|(?<=[a-z])(?=[A-Z])/).flatMap((part, place) => (place ? [document.createElement("wbr"), part] : [part]))
        : [word]));
      if (parts.length > 1) text.replaceWith(...parts);
    }
  }

  /** In tables that are wider than the page words of prose break, too; what is still wider can be scrolled, by keys as well. */
  function fitTables() {
    for (const table of document.querySelectorAll("table.docutils")) {
      const isWide = () => table.offsetWidth > table.parentElement.clientWidth;
      if (isWide()) breakNames(table, () => LONG);
      if (isWide()) table.parentElement.tabIndex = 0;
      else table.parentElement.removeAttribute("tabindex");
    }
  }

  /** Keeps options such as --json on one line: browsers break words behind hyphens. */
  function keepOptions() {
    for (const word of document.querySelectorAll("article code .pre")) {
      if (word.textContent.startsWith("-") && word.textContent.length <= SHORT && !word.closest("table")) word.style.whiteSpace = "nowrap";
    }
  }

  function nameColumns() {
    keepOptions();
    const ofWords = (text) => (/\s/.test(text) ? LONGER : LONG);
    for (const title of document.querySelectorAll("article h1")) breakNames(title, ofWords);
    for (const table of document.querySelectorAll("table.docutils")) {
      breakNames(table, ofWords);
      const titles = [...table.querySelectorAll("thead th")].map((head) => head.textContent.trim());
      if (titles.length <= FEW) continue;
      table.classList.add("rows");
      table.classList.toggle("many", titles.length > MANY);
      table.classList.toggle("most", titles.length > MOST);
      for (const row of table.querySelectorAll("tbody tr")) {
        [...row.children].forEach((cell, place) => {
          cell.dataset.column = titles[place] ?? "";
          cell.classList.toggle("empty", !cell.textContent.trim() && !cell.querySelector("img"));
          cell.classList.toggle("name", place === 0);
          cell.classList.toggle("short", cell.textContent.trim().length <= SHORT);
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
    fitTables();
    window.addEventListener("resize", fitTables);
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
