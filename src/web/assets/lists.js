/* lists.js -- a file instead of pasted lines: fills the text field that it stands at. Without scripts the lines are pasted. */
"use strict";
(() => {
  document.querySelectorAll("textarea[data-file]").forEach((area) => {
    const label = document.createElement("label");
    const input = document.createElement("input");
    label.textContent = "Or choose a file";
    label.htmlFor = input.id = `${area.id}-file`;
    input.type = "file";
    input.accept = ".csv,.tsv,.txt,text/csv,text/plain";
    input.addEventListener("change", async () => {
      if (input.files.length > 0) area.value = await input.files[0].text();
    });
    area.before(label, input);
  });
})();
