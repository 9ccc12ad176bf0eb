// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

"use strict";
// The search, the menu of narrow screens, and the choice of light or dark. Works without a server.
(() => {
    const base = document.body.dataset.base;
    const root = document.documentElement;
    const input = document.querySelector(".search input");
    const results = document.querySelector(".search .results");
    const menu = document.querySelector(".menu");
    const onSearchPage = document.getElementById("found");

    const escape = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
    const words = (query) => query.toLowerCase().split(/\s+/).filter(Boolean);

    // The last part of a name is what people look for; text counts least.
    function score(entry, terms) {
        const [name, kind, url, text] = entry;
        const isPage = kind === "page";
        const title = name.toLowerCase().replace(/^pawl::/, "");
        const last = title.split(isPage ? ": " : "::").pop();
        let sum = last === terms.join(isPage ? " " : "_") ? 200 : 0;
        if (terms.length > 1 && title.includes(terms.join(" "))) sum += 60;
        for (const term of terms) {
            const plain = term.replace(/^pawl::|\(\)$/g, "");
            if (last === plain || title === plain || title.endsWith("::" + plain)) sum += 100;
            else if (last.startsWith(plain)) sum += 50;
            else if (title.includes(plain)) sum += 25;
            else if (text.toLowerCase().includes(plain)) sum += 5;
            else return 0;
        }
        if (!isPage && kind !== "enumvalue") sum += 3;
        if (url.startsWith("reference/spi/")) sum -= 20;
        if (url.startsWith("changelog")) sum -= 3;
        return sum - name.length / 200;
    }

    function find(query, limit) {
        const terms = words(query);
        if (terms.length === 0) return [];
        return window.searchEntries
            .map((entry) => [score(entry, terms), entry])
            .filter(([points]) => points !== 0)
            .sort((a, b) => b[0] - a[0])
            .slice(0, limit)
            .map(([, entry]) => entry);
    }

    function excerpt(text, terms) {
        const lower = text.toLowerCase();
        const places = terms.map((term) => lower.indexOf(term)).filter((at) => at >= 0);
        const at = places.length ? Math.min(...places) : 0;
        const start = at < 60 ? 0 : text.indexOf(" ", at - 50) + 1;
        let shown = escape((start ? "… " : "") + text.slice(start, start + 150));
        for (const term of terms) {
            const pattern = escape(term).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
            shown = shown.replace(new RegExp(`(?<![&#\\w])${pattern}`, "gi"), "<mark>$&</mark>");
        }
        return shown;
    }

    function show(place, query, limit) {
        const terms = words(query);
        const hits = find(query, limit);
        place.innerHTML = hits.map(([name, kind, url, text]) =>
            `<a class="hit" href="${base}${escape(url)}"><b>${escape(name)}</b>` +
            `<i>${kind === "page" ? "" : escape(kind)}</i>` +
            `<span>${excerpt(text, terms)}</span></a>`).join("") ||
            `<div class="none">Nothing contains all of these words.</div>`;
    }

    function choose(step) {
        const hits = [...results.querySelectorAll(".hit")];
        const now = hits.findIndex((hit) => hit.classList.contains("chosen"));
        hits.forEach((hit) => hit.classList.remove("chosen"));
        const next = hits[Math.max(0, Math.min(hits.length - 1, now + step))];
        if (next) {
            next.classList.add("chosen");
            next.scrollIntoView({ block: "nearest" });
        }
    }

    function close() {
        results.hidden = true;
    }

    input.addEventListener("input", () => {
        results.hidden = !input.value.trim();
        if (!results.hidden) show(results, input.value, 12);
    });
    input.addEventListener("focus", () => { results.hidden = !results.innerHTML || !input.value; });
    input.addEventListener("keydown", (event) => {
        if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            event.preventDefault();
            choose(event.key === "ArrowDown" ? 1 : -1);
        } else if (event.key === "Escape") {
            close();
            input.blur();
        }
    });
    document.querySelector(".search").addEventListener("submit", (event) => {
        event.preventDefault();
        const chosen = results.querySelector(".hit.chosen");
        if (chosen) location.href = chosen.href;
        else location.href = `${base}search.html#q=${encodeURIComponent(input.value)}`;
        close();
    });
    document.addEventListener("click", (event) => {
        if (!event.target.closest(".search")) close();
    });
    document.addEventListener("keydown", (event) => {
        const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
        if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
            event.preventDefault();
            input.focus();
        }
    });

    // search.html#q=WORDS
    function fromAddress() {
        const query = new URLSearchParams(location.hash.slice(1)).get("q") || "";
        input.value = query;
        show(onSearchPage, query, 100);
    }
    if (onSearchPage) {
        fromAddress();
        window.addEventListener("hashchange", fromAddress);
    }

    menu.addEventListener("click", () => {
        const open = document.body.classList.toggle("menu-open");
        menu.setAttribute("aria-expanded", String(open));
    });

    document.querySelector(".theme").addEventListener("click", () => {
        const dark = root.dataset.theme
            ? root.dataset.theme === "dark"
            : matchMedia("(prefers-color-scheme: dark)").matches;
        root.dataset.theme = dark ? "light" : "dark";
        try {
            localStorage.setItem("pawl-theme", root.dataset.theme);
        } catch (error) {
            // The choice then lasts for this page.
        }
    });

    const here = document.querySelector(".site [aria-current]");
    const pages = document.querySelector(".site");
    if (here) pages.scrollTop = here.offsetTop - pages.clientHeight / 2;
})();
