#!/usr/bin/env python3
"""Compiles page templates to C, so that a page is checked by the compiler and nothing a person wrote becomes markup.

Usage: templates.py OUTPUT.c OUTPUT.h FILE.html…

A template file holds HTML and:
    {# … #}                     a comment, not part of the page
    %include "site/views.h"     a header that the templates below need
    %template void front_page(Buffer *out, const FrontView *view)
                                begins a function; it ends with %end. `static` keeps it to the templates
    % for (…) {                 a line of C; also inside a line as {% … %}
    {{ expression }}            a value, escaped by its C type for the place it stands in:
        in text                 html_put: Slice, text, numbers with thin spaces, Moment, Markup as it is
        in an attribute         attribute_put: Slice, text, plain digits; the value must stand in double quotes
        href, src, action …     url_put at the beginning (only our paths and http(s)); url_part_put after it
Values elsewhere (in a tag's name, without quotes, in <script> or <style>, an event handler) are refused here, and types
without a rule by the compiler. Indentation is dropped.
"""
import pathlib
import re
import sys

URLS = {"href", "src", "action", "formaction"}
TOKEN = re.compile(r"\{\{(.*?)\}\}|\{%(.*?)%\}|\{#.*?#\}", re.S)


class Fault(Exception):
    pass


class Html:
    """Where in the markup we are: "text", "tag", or ("value", attribute, whether its value is still empty)."""

    def __init__(self):
        self.state, self.tag, self.word = "text", "", ""

    def feed(self, text):
        for char in text:
            if self.state == "text":
                if char == "<":
                    self.state, self.tag, self.word = "tag", "", ""
            elif self.state == "tag":
                self.in_tag(char)
            elif char == '"':
                self.state, self.word = "tag", ""
            else:
                self.state = ("value", self.state[1], False)

    def in_tag(self, char):
        if char == ">":
            if self.tag == "":
                self.tag = self.word
            self.state = "text"
        elif char.isspace():
            if self.tag == "":
                self.tag = self.word
            self.word = ""
        elif char == '"':
            if not self.word.endswith("="):
                raise Fault('a " that begins no value')
            self.state = ("value", self.word[:-1].lower(), True)
        elif char == "'":
            raise Fault("values stand in double quotes")
        else:
            self.word += char

    def writer(self):
        if self.state == "text":
            if self.tag.lower() in ("script", "style"):
                raise Fault(f"no value may stand in <{self.tag}>")
            return "html_put"
        if self.state == "tag":
            raise Fault("a value stands in a tag, outside of double quotes")
        _, name, empty = self.state
        if name.startswith("on") or name in ("style", "srcdoc"):
            raise Fault(f"no value may stand in {name}")
        self.state = ("value", name, False)
        if name in URLS:
            return "url_put" if empty else "url_part_put"
        return "attribute_put"


def c_string(text):
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    # A hexadecimal escape would swallow digits, so bytes stay as they are: UTF-8 in, UTF-8 out.
    return f'"{escaped}"'


def literal(text, html, out):
    if text:
        html.feed(text)
        out.append(f"    HTML(out, {c_string(text)});")


def body_line(line, html, out):
    position = 0
    for match in TOKEN.finditer(line):
        literal(line[position : match.start()], html, out)
        position = match.end()
        if match.group(1) is not None:
            out.append(f"    {html.writer()}(out, {match.group(1).strip()});")
        elif match.group(2) is not None:
            out.append(f"    {match.group(2).strip()}")
    literal(line[position:], html, out)


class Compiler:
    def __init__(self):
        self.includes, self.prototypes, self.code = [], [], []
        self.html = None

    def add_file(self, path):
        text = re.sub(r"\{#.*?#\}", lambda found: "\n" * found.group().count("\n"), path.read_text(), flags=re.S)
        for number, line in enumerate(text.split("\n"), 1):
            try:
                self.add_line(line.strip(), f'#line {number} "{path}"')
            except Fault as fault:
                raise SystemExit(f"{path}:{number}: {fault}") from None
        if self.html is not None:
            raise SystemExit(f"{path}: the last template has no %end")

    def add_line(self, line, place):
        if line.startswith("%include "):
            include = f"#include {line[9:]}"
            if include not in self.includes:
                self.includes.append(include)
        elif line.startswith("%template "):
            self.begin(line[10:], place)
        elif line == "%end":
            self.end()
        elif self.html is None:
            if line:
                raise Fault("text outside of a template")
        elif line.startswith("%"):
            self.code += [place, f"    {line[1:].strip()}"]
        elif line:
            self.code.append(place)
            body_line(line + "\n", self.html, self.code)

    def begin(self, signature, place):
        if self.html is not None:
            raise Fault("a template inside a template")
        self.html = Html()
        if signature.startswith("static "):
            self.code.append(f"{signature};")
        else:
            self.prototypes.append(f"{signature};")
        self.code += [place, signature, "{"]

    def end(self):
        if self.html is None:
            raise Fault("%end without %template")
        if self.html.state != "text":
            raise Fault("the template ends inside a tag")
        self.html = None
        self.code.append("}\n")


def main(c_path, h_path, paths):
    compiler = Compiler()
    for path in sorted(map(pathlib.Path, paths), key=lambda path: path.name):
        compiler.add_file(path)
    note = "/* Made by tools/templates.py from the templates in src/site/pages. */\n"
    header = note + "#pragma once\n\n" + "\n".join(compiler.includes) + "\n\n" + "\n".join(compiler.prototypes) + "\n"
    pathlib.Path(h_path).write_text(header)
    source = note + f'#include "site/{pathlib.Path(h_path).name}"\n#include "web/put.h"\n\n' + "\n".join(compiler.code) + "\n"
    pathlib.Path(c_path).write_text(source)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        raise SystemExit("usage: templates.py OUTPUT.c OUTPUT.h FILE.html…")
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
