/* votes.js -- sums and prices while one types. Every form works without it: the server asks before anything is paid.
 *
 * <form data-votes data-balance-now="37" data-percent="50">     many lines:
 *   <tr data-line="30">                a line that holds 30, with an <input type="number"> for what it shall hold; inside it
 *     <data value="5" data-free>       the part that is taken back for nothing
 *     <data value="150" data-centi>    what was lost on it so far, in hundredths: prices are rounded once over all
 *     data-step="1", "-1"              buttons
 *     data-price                       where the price of this line is told
 *   data-rest, data-words, data-held-sum   what remains, in figures and words, and the sum of the lines
 *   data-undo, a reset button          the last change; all changes
 *   data-find                          a field that shows only lines whose names hold what is written
 * <form data-vote data-held="30" data-free data-centi …>        one line: the form is the line; also data-all, data-jumps
 * data-fill="44" (a link, inside a line or anywhere on a page with one line)   writes 44 into the field
 * The price that is shown is sent along as the field `price`: the voter has agreed to it, so the server need not ask again. */
"use strict";
(() => {
  /* As the server writes them: thin spaces between groups of three digits. */
  const written = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f").replace("-", "\u2212");
  const pollies = (number) => (number === 1 ? "polly" : "pollies");

  /* ---- One line: what it holds, what it shall hold, what that costs (the rules are in vote_rules.c) ---- */

  const numberAt = (element, name) => {
    const inside = element.querySelector(`data[data-${name}]`);
    return Number(inside ? inside.value : element.dataset[name] || 0);
  };

  class Line {
    constructor(element, percent) {
      this.element = element;
      this.percent = percent;
      this.input = element.querySelector('input[type="number"]');
      this.words = element.querySelector("[data-price]");
      this.usual = this.words ? this.words.textContent : "";
      this.shown = this.input.value; /* before the next change, for undo */
      this.held = Number(element.dataset.line ?? element.dataset.held);
      this.free = numberAt(element, "free");
      this.centi = numberAt(element, "centi");
    }
    get isNumber() {
      return /^\d+$/.test(this.input.value.trim());
    }
    get wanted() {
      return this.isNumber ? Number(this.input.value) : this.held;
    }
    get taken() {
      return Math.max(0, this.held - this.wanted);
    }
    get added() {
      return Math.max(0, this.wanted - this.held);
    }
    get penalty() {
      const paid = Math.max(0, this.taken - this.free);
      return Math.ceil((this.centi + paid * this.percent) / 100) - Math.ceil(this.centi / 100);
    }
    get isChanged() {
      return !this.isNumber || this.wanted !== this.held;
    }
  }

  const priceWords = (taken, penalty) =>
    penalty > 0
      ? `Taking back ${written(taken)} costs ${written(penalty)}. You get ${written(taken - penalty)} back.`
      : `Taking back ${written(taken)} costs nothing.`;

  const lineWords = (line) => {
    if (!line.isNumber) return "Write a whole number.";
    if (line.taken > 0) return priceWords(line.taken, line.penalty);
    return line.added > 0 ? `+${written(line.added)}` : line.usual;
  };

  /* ---- A form ---- */

  class Form {
    constructor(form, elements) {
      this.form = form;
      this.balance = Number(form.dataset.balanceNow);
      this.lines = new Map();
      this.changed = new Set();
      this.steps = []; /* for undo: {line, value, typed} */
      this.touched = false;
      const percent = Number(form.dataset.percent);
      for (const element of elements) {
        const line = new Line(element, percent);
        this.lines.set(element, line);
        if (line.isChanged) this.changed.add(line);
      }
      this.heldBefore = 0;
      this.lines.forEach((line) => (this.heldBefore += line.held));
      this.words = form.querySelector("[data-words]");
      this.usual = this.words ? this.words.textContent : "";
      this.agreed = form.querySelector("[data-agreed]") || this.addAgreed();
      this.listen();
      if (this.changed.size > 0) this.show([...this.changed]);
    }

    addAgreed() {
      const field = document.createElement("input");
      field.type = "hidden";
      field.name = "price";
      field.value = "0";
      this.form.append(field);
      return field;
    }

    /* What all changed lines but one add up to. */
    sums(except) {
      const sums = { taken: 0, added: 0, penalty: 0 };
      for (const line of this.changed) {
        if (line === except) continue;
        sums.taken += line.taken;
        sums.added += line.added;
        sums.penalty += line.penalty;
      }
      sums.rest = this.balance + sums.taken - sums.added - sums.penalty;
      return sums;
    }

    /* The most that a line can hold with what is left. */
    most(line) {
      return line.held + Math.max(0, this.sums(line).rest);
    }

    set(line, value, typed = false) {
      const last = this.steps[this.steps.length - 1];
      if (!typed || !last || !last.typed || last.line !== line)
        this.steps.push({ line, value: line.shown, typed });
      if (!typed) line.input.value = String(value);
      this.touched = true;
      this.update(line);
    }

    update(line) {
      line.shown = line.input.value;
      if (line.isChanged) this.changed.add(line);
      else this.changed.delete(line);
      this.show([line]);
    }

    step(line, step) {
      const wanted = line.wanted + step;
      this.set(line, step > 0 ? Math.max(line.wanted, Math.min(wanted, this.most(line))) : Math.max(0, wanted));
    }

    undo() {
      const last = this.steps.pop();
      if (!last) return;
      last.line.input.value = last.value;
      this.update(last.line);
      last.line.input.focus();
    }

    undoAll() {
      const lines = [...this.changed];
      for (const line of lines) {
        line.input.value = String(line.held);
        line.shown = line.input.value;
      }
      this.changed.clear();
      this.steps = [];
      this.touched = false;
      this.show(lines);
    }

    /* ---- Telling ---- */

    put(name, value) {
      const element = this.form.querySelector(`[data-${name}]`);
      if (element) element.textContent = value;
    }

    formWords(sums) {
      if (sums.rest < 0) return `You are ${written(-sums.rest)} ${pollies(-sums.rest)} short.`;
      if (sums.taken > 0) return priceWords(sums.taken, sums.penalty);
      if (sums.added > 0) return `${written(sums.added)} more on policies. Nothing is saved yet.`;
      return this.usual;
    }

    show(lines) {
      for (const line of lines) {
        line.element.classList.toggle("is-changed", line.isChanged && line.element !== this.form);
        if (line.words) line.words.textContent = lineWords(line);
      }
      const sums = this.sums();
      this.agreed.value = String(sums.penalty);
      const shown = Math.abs(sums.rest);
      this.put("rest", written(shown));
      this.put("rest-word", `${pollies(shown)} ${sums.rest < 0 ? "missing" : "unspent"}`);
      this.put("held-sum", written(this.heldBefore + sums.added - sums.taken));
      this.form.classList.toggle("is-short", sums.rest < 0);
      if (this.words) this.words.textContent = this.formWords(sums);
      else if (sums.rest < 0 && lines[0].words) lines[0].words.textContent = this.formWords(sums);
      const undo = this.form.querySelector("[data-undo]");
      if (undo) undo.disabled = this.steps.length === 0;
    }

    /* ---- Hearing ---- */

    lineOf(target) {
      return this.lines.get(this.form.hasAttribute("data-vote") ? this.form : target.closest("[data-line]"));
    }

    pressed(event) {
      const button = event.target.closest("[data-step], [data-all], [data-fill], [data-undo]");
      if (!button) return;
      const line = this.lineOf(button);
      event.preventDefault();
      if (button.hasAttribute("data-undo")) this.undo();
      else if (button.hasAttribute("data-all")) this.set(line, this.most(line));
      else if (button.hasAttribute("data-fill")) this.fill(line, button.dataset.fill);
      else this.step(line, Number(button.dataset.step));
    }

    fill(line, value) {
      this.set(line, value);
      line.input.focus();
    }

    listen() {
      const { form } = this;
      form.classList.add("is-live");
      form.addEventListener("click", (event) => this.pressed(event));
      form.addEventListener("input", (event) => {
        const line = event.target.type === "number" && this.lineOf(event.target);
        if (line) this.set(line, null, true);
      });
      form.addEventListener("reset", (event) => {
        event.preventDefault();
        this.undoAll();
      });
      form.addEventListener("submit", () => (this.touched = false));
      /* A line that stays as it is need not travel. */
      form.addEventListener("formdata", (event) => {
        for (const line of this.lines.values())
          if (!line.isChanged && line.element !== form) event.formData.delete(line.input.name);
      });
      addEventListener("beforeunload", (event) => {
        if (this.touched && this.changed.size > 0) event.preventDefault();
      });
      form.querySelectorAll("[data-stepper] [hidden], [data-jumps], [data-undo]").forEach((element) => (element.hidden = false));
      this.listenToFind();
    }

    listenToFind() {
      const find = this.form.querySelector("[data-find]");
      if (!find || this.lines.size < 12) return;
      find.hidden = false;
      const field = find.querySelector("input");
      field.addEventListener("input", () => {
        const text = field.value.trim().toLocaleLowerCase();
        for (const element of this.lines.keys())
          element.hidden = !element.querySelector("th").textContent.toLocaleLowerCase().includes(text);
      });
      field.addEventListener("keydown", (event) => event.key === "Enter" && event.preventDefault());
    }
  }

  document.querySelectorAll("form[data-votes]").forEach((form) => new Form(form, form.querySelectorAll("[data-line]")));
  const one = document.querySelector("form[data-vote]");
  if (!one) return;
  const form = new Form(one, [one]);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-fill]");
    if (!link || one.contains(link)) return;
    event.preventDefault();
    form.fill(form.lineOf(one), link.dataset.fill);
  });
})();
