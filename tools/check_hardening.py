#!/usr/bin/env python3
"""check_hardening.py PROGRAM: whether the program was built with what makes a fault in its memory hard to use. Part of ./dev lint.

Read from the program itself by readelf, because a flag of the compiler says only what somebody wanted: an address that differs at each start (PIE),
tables of the linker that are read-only before main runs (RELRO, BIND_NOW), no executable stack, stack protector and checked calls of the C
library (_FORTIFY_SOURCE), and on x86-64 landing marks for jumps and calls (CET). These are looked for in main itself: the program as a whole is
not marked where the C library's own start files are not, as in Debian 12."""
import subprocess
import sys


def readelf(path, *options):
    return subprocess.run(["readelf", "--wide", *options, str(path)], capture_output=True, text=True, check=True).stdout


def line_with(text, word):
    return next((line for line in text.splitlines() if word in line), "")


def findings(path):
    head, segments, dynamic, symbols = (readelf(path, option) for option in (
        "--file-header", "--program-headers", "--dynamic", "--dyn-syms"))
    rules = {
        "is no position independent executable (-pie)": "DYN" in line_with(head, "Type:") and "INTERP" in segments,
        "has tables of the linker that stay writable (-z relro)": "GNU_RELRO" in segments,
        "finds functions only when they are called (-z now)": "BIND_NOW" in dynamic or "NOW" in line_with(dynamic, "FLAGS_1"),
        "has an executable stack (-z noexecstack)": "GNU_STACK" in segments and "RWE" not in line_with(segments, "GNU_STACK"),
        "has no stack protector (-fstack-protector-strong)": "__stack_chk_fail" in symbols,
        "calls the C library unchecked (_FORTIFY_SOURCE)": "_chk@" in symbols.replace("__stack_chk_fail", ""),
    }
    if "X86-64" in head:
        code = subprocess.run(["objdump", "--disassemble=main", str(path)], capture_output=True, text=True, check=True).stdout
        rules["has no landing marks for jumps and calls (-fcf-protection)"] = "endbr64" in code
    return [words for words, holds in rules.items() if not holds]


def main(path):
    found = findings(path)
    for words in found:
        print(f"{path}: {words}")
    return 1 if found else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.split(":")[0])
    sys.exit(main(sys.argv[1]))
