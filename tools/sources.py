#!/usr/bin/env python3
"""Lists the files of a module, so that no list of them is kept by hand.

Usage: sources.py DIRECTORY [ENDING] [--flat]

Prints the files in DIRECTORY that end with ENDING (.c), one a line and relative to it, in order; with --flat without those in its folders.
`./dev` configures a build again when there are other files than before.
"""
import pathlib
import sys


def main():
    words = [word for word in sys.argv[1:] if word != "--flat"]
    root, ending = pathlib.Path(words[0]), words[1] if len(words) > 1 else ".c"
    found = root.glob(f"*{ending}") if "--flat" in sys.argv else root.rglob(f"*{ending}")
    for path in sorted(found):
        print(path.relative_to(root))


main()
