#!/usr/bin/env python3
"""docs.py -- pages of docs/ that the program prints from its own tables. Used by ./dev docs and ./dev lint.

    docs.py PROGRAM            writes them
    docs.py --check PROGRAM    fails when one differs from what the program prints"""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = {
    "docs/api.md": ["api"],
    "docs/commands.md": ["help", "--markdown"],
    "docs/settings.md": ["config", "--markdown"],
    "docs/tables.md": ["tables"],
    "docs/threads.md": ["threads"],
}


def main(arguments):
    check = arguments[:1] == ["--check"]
    program = pathlib.Path(arguments[-1]).resolve()
    if not program.exists():
        print(f"dev: {program} was not built", file=sys.stderr)
        return 1
    stale = []
    for name, words in PAGES.items():
        printed = subprocess.run([program, *words], check=True, capture_output=True, env={}).stdout
        page = ROOT / name
        if page.exists() and page.read_bytes() == printed:
            continue
        stale.append(name)
        if not check:
            page.write_bytes(printed)
            print(f"wrote {name}")
    if check and stale:
        print(f"dev: {', '.join(stale)} does not say what the program does; ./dev docs prints it again", file=sys.stderr)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
