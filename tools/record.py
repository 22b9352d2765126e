#!/usr/bin/env python3
"""record.py -- keeps what a benchmark printed as a section of bench/RESULTS.md. Used by ./dev bench --record.

    record.py NAME FILE
A section is the heading `## NAME` and all up to the next one; recording again replaces it. It says when and on what
machine, with which libraries: a figure without them means nothing."""
import datetime
import os
import pathlib
import platform
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TITLE = """# Results

What `./dev bench NAME --record` measured, each beside its peer in the same run. Compare ratios, not absolute figures:
those belong to the machine that is named with them.
"""
PACKAGES = ["gcc", "librocksdb-dev", "libjemalloc-dev", "postgresql-15", "nginx", "wrk"]


def first(pattern, path):
    found = re.search(pattern, pathlib.Path(path).read_text(encoding="utf-8"), re.MULTILINE)
    return found.group(1).strip() if found else "unknown"


def machine():
    memory = first(r"^MemTotal:\s+(\d+) kB", "/proc/meminfo")
    memory = f"{round(int(memory) / 1048576)} GiB" if memory.isdigit() else memory
    return (f"{first(r'^model name.*: (.*)$', '/proc/cpuinfo')}, {os.cpu_count()} cores, {memory} of memory, "
            f"Linux {platform.release()}")


def versions():
    answer = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Version}\n", *PACKAGES], capture_output=True,
                            text=True, check=False)
    return ", ".join(answer.stdout.splitlines())


def section(name, output, now):
    return (f"## {name}\n\n{now:%Y-%m-%d} on {machine()}.\n{versions()}.\n\n```\n" +
            "\n".join(line.rstrip() for line in output.strip().splitlines()) + "\n```\n")


def replaced(text, name, new):
    """The page with the section of that name replaced, or added at the end."""
    parts = re.split(r"^(?=## )", text or TITLE, flags=re.MULTILINE)
    for index, part in enumerate(parts):
        if part.startswith(f"## {name}\n"):
            parts[index] = new
            break
    else:
        parts.append(new)
    return "\n".join(part.strip("\n") + "\n" for part in parts if part.strip())


def main(name, output, root=ROOT):
    page = root / "bench/RESULTS.md"
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    new = section(name, pathlib.Path(output).read_text(encoding="utf-8"), datetime.datetime.now(datetime.timezone.utc))
    page.write_text(replaced(text, name, new), encoding="utf-8")
    print(f"recorded in bench/RESULTS.md under {name}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("record.py NAME FILE")
    main(*sys.argv[1:])
