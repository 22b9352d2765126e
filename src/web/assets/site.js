/* site.js -- figures that follow the votes. Every page works without it.
 *
 * <body data-topic="…"> names a stream of events (/api/v1/events?topic=…); each event is the newest state as JSON, and the first
 * comes at once, so nothing is missed between the page and the stream. What a page marks for it:
 *   <ol data-list="rows">            a ranking: message.rows has {id, rank, votes, total} in order. Its rows are
 *     <li data-policy="12">          with data-rank, data-votes, data-total and data-change (places won since yesterday) inside;
 *                                    rows move to their places. When a policy comes in that the page does not show, the list
 *                                    is read again from the server.
 *   data-live="recent.rank"          a figure or text at that place of the message
 *   data-live-votes="total"          "vote" or "votes", as that number asks for
 *   data-live-href="recent.above.address"   and an address of ours
 *   data-live-shown="recent.above"   shown only while the message has something there
 *   data-live-absent="recent.above"  shown only while it has nothing there, and is of a policy that has a place
 *   data-live-same="recent.to_beat" data-same="14"   shown only while the message says the same
 *   data-as-of, data-live-mark       when this was true, and whether the stream is open */
"use strict";
(() => {
  const topic = document.body.dataset.topic;
  if (!topic || !window.EventSource) return;

  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const all = (selector, inside = document) => Array.from(inside.querySelectorAll(selector));
  const at = (message, path) => path.split(".").reduce((value, key) => (value == null ? value : value[key]), message);
  /* As the server writes them: thin spaces between groups of three digits. */
  const written = (value) =>
    typeof value === "number" ? String(value).replace(/\B(?=(\d{3})+$)/g, "\u202f").replace("-", "\u2212") : String(value);

  const put = (element, value) => {
    const text = written(value);
    if (!element || element.textContent === text) return;
    element.textContent = text;
    if (calm.matches) return;
    element.classList.remove("ticked");
    void element.offsetWidth; /* begins the animation again */
    element.classList.add("ticked");
  };

  /* ---- Rankings ---- */

  const span = (name, text) => Object.assign(document.createElement("span"), { className: name, textContent: text });

  /* The arrow counts from yesterday, so each place won or lost now changes it, too. */
  const turnArrow = (place, won) => {
    if (!place || !won) return;
    const change = Number(place.dataset.change) + won;
    const [name, sign, words] =
      change > 0 ? ["change up", "▲", "up "] : change < 0 ? ["change down", "▼", "down "] : ["change", "·", "same place as yesterday"];
    const arrow = span(name, "");
    const picture = span("", sign);
    picture.setAttribute("aria-hidden", "true");
    arrow.append(picture, span("hidden", words), change ? written(Math.abs(change)) : "");
    place.dataset.change = change;
    place.replaceChildren(arrow);
  };

  const slide = (row, from) => {
    const way = from - row.getBoundingClientRect().top;
    if (!way) return;
    row.classList.toggle("passes", way > 0);
    const motion = row.animate([{ transform: `translateY(${way}px)` }, { transform: "none" }], {
      duration: 600,
      easing: "cubic-bezier(.2, .7, .2, 1)",
    });
    motion.onfinish = () => row.classList.remove("passes");
  };

  /* Puts the rows in order without taking focus from one of them. */
  const order = (list, rows) => {
    const places = new Map(rows.map((row) => [row, row.getBoundingClientRect().top]));
    rows.forEach((row, index) => {
      if (list.children[index] !== row && row.contains(document.activeElement)) {
        while (list.children[index] !== row) list.append(list.children[index]);
      } else if (list.children[index] !== row) {
        list.insertBefore(row, list.children[index]);
      }
    });
    if (!calm.matches) rows.forEach((row) => slide(row, places.get(row)));
  };

  let reading = false;
  /* Somebody new is in a list: the server knows how it looks. Pages are kept for two seconds
   * or so, and not everybody should ask at the same moment. */
  const readAgain = () => {
    if (reading) return;
    reading = true;
    setTimeout(async () => {
      try {
        const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
        if (answer.ok) {
          const page = new DOMParser().parseFromString(await answer.text(), "text/html");
          all("[data-list]").forEach((list) => {
            const fresh = page.querySelector(`[data-list="${list.dataset.list}"]`);
            if (fresh && !list.contains(document.activeElement)) list.replaceChildren(...fresh.children);
          });
        }
      } catch {
        /* the next event tries again */
      }
      reading = false;
    }, 2500 + Math.random() * 3000);
  };

  const showList = (list, rows) => {
    const known = new Map(Array.from(list.children, (row) => [Number(row.dataset.policy), row]));
    const shown = rows.slice(0, known.size);
    if (rows.length < known.size || shown.some((row) => !known.has(row.id))) return readAgain();
    shown.forEach((row) => {
      const element = known.get(row.id);
      const rank = element.querySelector("[data-rank]");
      turnArrow(element.querySelector("[data-change]"), Number(rank.textContent.replace(/\D/g, "")) - row.rank);
      put(rank, row.rank);
      put(element.querySelector("[data-votes]"), row.votes);
      put(element.querySelector("[data-total]"), row.total);
    });
    order(list, shown.map((row) => known.get(row.id)));
  };

  /* ---- Everything else ---- */

  const show = (message) => {
    all("[data-list]").forEach((list) => message[list.dataset.list] && showList(list, message[list.dataset.list]));
    all("[data-live]").forEach((element) => {
      const value = at(message, element.dataset.live);
      if (value != null) put(element, value);
    });
    all("[data-live-votes]").forEach((element) => {
      const value = at(message, element.dataset.liveVotes);
      if (value != null) element.textContent = value === 1 ? "vote" : "votes";
    });
    all("[data-live-href]").forEach((element) => {
      const value = at(message, element.dataset.liveHref);
      if (typeof value === "string" && /^\/(?!\/)/.test(value)) element.href = value;
    });
    all("[data-live-shown]").forEach((element) => {
      element.hidden = !at(message, element.dataset.liveShown);
    });
    all("[data-live-absent]").forEach((element) => {
      const [place, key] = element.dataset.liveAbsent.split(".");
      element.hidden = !message[place] || Boolean(message[place][key]);
    });
    all("[data-live-same]").forEach((element) => {
      element.hidden = String(at(message, element.dataset.liveSame)) !== element.dataset.same;
    });
    all("[data-as-of]").forEach((element) => {
      const time = document.createElement("time");
      time.dateTime = message.as_of;
      time.title = message.as_of;
      time.textContent = "just now";
      element.replaceChildren(time);
    });
    document.dispatchEvent(new CustomEvent("ostraka:live", { detail: message }));
  };

  /* ---- The stream ---- */

  let source = null;
  let timer = 0;
  const mark = (open) =>
    all("[data-live-mark]").forEach((element) => {
      element.hidden = false;
      element.textContent = open ? "live" : "connecting";
      element.classList.toggle("waits", !open);
    });

  const close = () => {
    clearTimeout(timer);
    if (source) source.close();
    source = null;
  };

  /* The browser reconnects by itself, but gives up on an answer like 503: then so do we, for a while. */
  const open = () => {
    if (source) return;
    source = new EventSource(`/api/v1/events?topic=${encodeURIComponent(topic)}`);
    source.onopen = () => mark(true);
    source.onmessage = (event) => show(JSON.parse(event.data));
    source.onerror = () => {
      mark(false);
      if (source && source.readyState === EventSource.CLOSED) {
        close();
        timer = setTimeout(open, 4000 + Math.random() * 6000);
      }
    };
  };

  /* A page that nobody looks at needs no stream; the first event after it opens again brings everything. */
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  addEventListener("pagehide", close);
  addEventListener("pageshow", () => !document.hidden && open());
  if (!document.hidden) open();
})();
