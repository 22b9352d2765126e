#!/usr/bin/env python3
"""Collects what sources define into one table, so that nobody keeps a list by hand.

Usage: collect.py OUTPUT HEADER TYPE TABLE PREFIX MACRO FILE…

Writes `const TYPE *const TABLE[]`, ended by NULL, with &PREFIXname for every `MACRO(name, …` that begins a line of one of the files, in the
order of the files' names and of their lines. In place of MACRO may stand what comes before the name: "const Record ". An OUTPUT that ends with
.h only declares them. A MACRO( anywhere else, such as in another macro, would be left out of the table, so it is an error.
"""
import pathlib
import re
import sys


def main():
    output, header, kind, table, prefix, macro, *files = sys.argv[1:]
    names = []
    for file in sorted(files):
        text = pathlib.Path(file).read_text()
        names += re.findall(rf"^{macro}(\w+)" if macro.endswith(" ") else rf"^{macro}\((\w+)", text, re.M)
        if macro.endswith(" "):
            continue
        code = re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment[0].count("\n"), text, flags=re.S)
        missed = re.search(rf"^(?!#define {macro}\().*[^\w\n]{macro}\(", code, re.M)
        if missed:
            line = code.count("\n", 0, missed.start()) + 1
            sys.exit(f"{file}:{line}: {macro}( must begin a line, and stand in no other macro: the build collects it from there")
    lines = [f'/* Made by tools/collect.py from the sources; do not edit. */\n#include "{header}"\n']
    lines += [f"extern const {kind} {prefix}{name};" for name in names]
    if output.endswith(".h"):
        pathlib.Path(output).write_text("#pragma once\n" + "\n".join(lines) + "\n")
        return
    lines += [f"const {kind} *const {table}[] = {{", *(f"    &{prefix}{name}," for name in names), "    NULL};", ""]
    pathlib.Path(output).write_text("\n".join(lines))


main()
