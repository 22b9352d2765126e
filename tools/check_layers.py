#!/usr/bin/env python3
"""check_layers.py -- a module includes only the modules that src/layers.txt allows it. Part of ./dev lint.

A line of the file is `module: modules it may use`; a module may only use what stands on a line above it, so the file
has no circles. A source file belongs to the listed folder that is nearest above it; every folder of src that holds C
is listed by its own name."""
import pathlib
import re
import sys

import tree

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


def read_layers(path):
    """The allowed uses by module, and what is wrong with the file itself."""
    layers, findings = {}, []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        module, colon, uses = line.partition(":")
        if not colon or module in layers:
            findings.append((path, number, "a line is `module: modules`, each module once"))
            continue
        findings += [(path, number, f"{module} may not use {used}, which does not stand above it")
                     for used in uses.split() if used not in layers]
        layers[module] = set(uses.split())
    return layers, findings


def module_of(folder, layers):
    """The listed folder nearest above, or None."""
    while folder not in ("", "."):
        if folder in layers:
            return folder
        folder = str(pathlib.PurePosixPath(folder).parent)
    return None


def check_file(root, path, layers):
    folder = str(path.parent.relative_to(root / "src"))
    own = module_of(folder, layers)
    text = path.read_text(encoding="utf-8")
    if folder not in layers:
        yield path, 1, f"src/{folder} is not listed in src/layers.txt"
    for include in INCLUDE.finditer(text):
        line, name = tree.line_of(text, include.start(1)), include.group(1)
        used = module_of(str(pathlib.PurePosixPath(name).parent), layers)
        if used is None:
            yield path, line, f'"{name}" does not begin with a module of src/layers.txt'
        elif used != own and used not in layers.get(own, ()):
            yield path, line, f"{own or folder} may not use {used} (src/layers.txt)"


def main(root):
    layers, findings = read_layers(root / "src/layers.txt")
    for path in tree.c_files(root, "src"):
        findings += check_file(root, path, layers)
    return tree.report(findings, root)


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else tree.ROOT))
