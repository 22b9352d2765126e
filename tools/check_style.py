#!/usr/bin/env python3
"""check_style.py -- the rules of this code that a machine can check. Part of ./dev lint.

Each check is a function over one file that yields (line, sentence); the tables at the top are the rules. An exception
is made by naming the file there, with the reason in view, never by a mark in the code."""
import fnmatch
import pathlib
import re
import sys

import tree

FUNCTION_MAX = 80
FILE_MAX = 700

# calls, why not, files below src that may
BANNED = [
    ("time gettimeofday clock_gettime nanosleep clock_nanosleep usleep sleep", "the time comes from a Clock (base/world.h)",
     ["base/world*.c", "store/rocksdb/writer.c", "store/cassandra/updates.c"]),  # these wait until a moment of the kernel's clock
    ("rand srand random srandom rand_r drand48 arc4random getrandom randombytes_buf",
     "luck comes from a Random (base/world.h)", ["base/world*.c"]),
    ("open open64 openat creat fopen fdopen freopen mkstemp mkdtemp tmpfile opendir fdopendir rename renameat unlink "
     "unlinkat mkdir mkdirat rmdir truncate stat lstat", "files are reached through a Disk (base/world.h)",
     ["base/world*.c", "rocks/*.c", "store/*/*.c", "cli/*.c", "net/listen.c"]),  # the last: the file of a socket
    ("getenv secure_getenv setenv putenv", "settings come from base/config.h", ["cli/*.c"]),
    ("printf vprintf puts putchar putc fputs fputc fprintf vfprintf perror", "only the command line talks to the terminal",
     ["cli/*.c", "base/status.c"]),
    ("exit _exit quick_exit", "only the command line ends the process", ["cli/*.c"]),
    ("abort", "a bug is a CHECK", ["base/status.c"]),
    ("system popen execl execlp execle execv execvp execve fork vfork", "the product starts no other programs", []),
    ("pthread_create thrd_create", "threads are rows of a table: thread_start (base/threads.h)", ["base/threads.c"]),
    ("strcpy strcat sprintf vsprintf gets strtok alloca atoi atol atoll scanf sscanf strncpy strncat",
     "unbounded or without errors; use Slice, Buffer and Reader (base/)", []),
    ("assert", "CHECK stays on in production", []),
]
LOGGING_MODULES = ["web/*", "tasks/*", "cli/*", "base/log.c"]
NEED_NOT_BE_USED = {"reason_set"}  # returns what it was given, as a convenience

# A store table belongs to the module that writes it; others ask that module. Who looks at one all the same, and why.
TABLE_GUESTS = {
    "SITE": ["settings", "cli"],  # facts about the whole site: a row for each, which has one writer
    "ACCOUNTS": ["access", "cli"],  # ways in are cells of the same row; whether there is any, before anything is opened
    "POLICIES": ["cli"],
    "VOTERS": ["cli", "tasks"],
}
TABLE_AUDITORS = ["store", "verify"]  # the contract itself; and who recomputes everything from the rows as they are

# What somebody may do is asked of the one who acts (actor_has, account_may): a role may need a second factor that this session has not shown. The
# roles of an account itself are read by those who keep them, show them, or look for whom to write to.
ROLES_READ_BY = ["accounts/*", "access/closing.c", "access/credentials.c", "operations/operation.c", "operations/people*.c",
                 "app/role_holders.c", "site/admin/people.c", "site/pages/admin.html"]
NOT_AN_ACCOUNT = {"route", "operation", "actor", "registration", "PEOPLE", "row", "viewers"}  # whose roles are those that a row asks for, or gives, or that count

# Joined here so that this file does not contain what it looks for.
NOTES = ["TO" + "DO", "FIX" + "ME", "X" * 3]
REGISTRIES = [".".join(parts) for parts in (
    ("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("npmjs", "com"), ("yarnpkg", "com"), ("crates", "io"),
    ("rubygems", "org"), ("deb.debian", "org"), ("security.debian", "org"), ("ftp.debian", "org"), ("docker", "io"),
    ("quay", "io"), ("ghcr", "io"), ("repo.maven.apache", "org"), ("proxy.golang", "org"), ("conan", "io"))]
VERBATIM = {"LICENSE"}  # texts that are not ours to format


def fits(name, patterns):
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def name_below_src(root, path):
    relative = path.relative_to(root)
    return "/".join(relative.parts[1:]) if relative.parts[0] == "src" else None


# --- C files ---------------------------------------------------------------------------------------------------------


def check_opening(path, text, _code):
    """The first line says what the file is; a header is read once."""
    if not text.startswith(f"/* {path.name} -- "):
        yield 1, f"the file begins with `/* {path.name} -- what it is`"
    if path.suffix == ".h" and not re.search(r"^#pragma once$", text, re.MULTILINE):
        yield 1, "a header says #pragma once"


def check_banned(name, code):
    for calls, reason, allowed in BANNED:
        if fits(name, allowed):
            continue
        # Not a member of that name, and not a longer name.
        pattern = r"(?<![\w.])(?<!->)(%s)\s*\(" % "|".join(calls.split())
        for call in re.finditer(pattern, code):
            yield tree.line_of(code, call.start()), f"{call.group(1)}(): {reason}"


def check_logging(name, text):
    if fits(name, LOGGING_MODULES):
        return
    for include in re.finditer(r'^\s*#\s*include\s*"base/log\.h"', text, re.MULTILINE):
        yield tree.line_of(text, include.start()), "only web, tasks and cli log; return a status"


def check_must_use(path, code):
    """Every function of a header that returns a Status must have its result used."""
    if path.suffix != ".h":
        return
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda found: re.sub(r"[^\n]", " ", found.group(0)), code,
                  flags=re.MULTILINE)
    for found in re.finditer(r"\bStatus\s+(\w+)\s*\(", code):
        start = max(code.rfind(end, 0, found.start()) for end in ";{}") + 1
        before = code[start:found.start()]
        if found.group(1) not in NEED_NOT_BE_USED and not re.search(r"\b(MUST_USE|typedef)\b", before):
            yield tree.line_of(code, found.start()), f"{found.group(1)} returns a Status and is not MUST_USE"


def functions(code):
    """(line, lines) of every function body: by our format its braces stand alone at the beginning of a line."""
    start = None
    for number, line in enumerate(code.splitlines(), 1):
        if line.rstrip() == "{":
            start = number
        elif line.rstrip() == "}" and start is not None:
            yield start, number - start + 1
            start = None


def check_functions(code):
    for line, length in functions(code):
        if length > FUNCTION_MAX:
            yield line, f"a function of {length} lines; at most {FUNCTION_MAX}"


def check_indexes(code):
    """A parameter is read by its name in an enum beside the row, or bound by an operation's row; a number says nothing. Code that walks over all
    rows of a route counts them."""
    walks = "->params[" in code
    for found in re.finditer(r"\bweb_(?:has|id|number|text|word|switch|numbers|texts|value)\(\s*[^,;]*?,\s*([^,;()]+?)\s*[,)]", code):
        index = found[1]
        is_named = re.fullmatch(r"[A-Z][A-Z0-9_]*|size_t \w+", index) or walks and index.isidentifier()
        if not is_named:
            yield tree.line_of(code, found.start()), "a parameter by its bare index; name it"


def check_registry(code):
    """What a file defines is collected by the build (tools/collect.py), not listed again somewhere else."""
    for found in re.finditer(r"^#define X\(\w+(?:, \w+)?\)(?:\\?\s)*extern |&(?:OPERATION|FORM|ROUTES|SCHEMA)_\w+,\s*&(?:OPERATION|FORM|ROUTES|SCHEMA)_",
                             code, re.MULTILINE):
        yield tree.line_of(code, found.start()), "a list of what other files define; let the build collect it"


def check_roles(root):
    for path, text in tree.text_files(root):
        name = name_below_src(root, path)
        if name is None or path.suffix not in (".c", ".h", ".html") or fits(name, ROLES_READ_BY):
            continue
        code = tree.code_only(text) if path.suffix != ".html" else text
        for found in re.finditer(r"\baccount_has\w*\s*\(|(\w+)(?:\[[^\]]*\])?(?:->|\.)(?:roles|denied)\b(?!\s*=[^=])", code):
            if found.group(1) not in NOT_AN_ACCOUNT:
                yield path, tree.line_of(code, found.start()), "roles of an account, which count only by actor_roles: ask actor_has or account_may"


def check_tables(root):
    users = {}
    for path in tree.c_files(root, "src"):
        module = name_below_src(root, path).split("/")[0]
        code = tree.code_only(path.read_text(encoding="utf-8"))
        for found in re.finditer(r"&TABLE_([A-Z_]+)\b", code):
            users.setdefault(found.group(1), {}).setdefault(module, (path, tree.line_of(code, found.start())))
    for table, modules in users.items():
        foreign = [module for module in modules if module not in TABLE_AUDITORS + TABLE_GUESTS.get(table, [])]
        for module in sorted(foreign)[1:]:
            path, line = modules[module]
            yield path, line, f"table {table} belongs to {sorted(foreign)[0]}: ask that module"


def check_sources(_path, text):
    if _path.name == "meson.build" and "src" in _path.parts:
        for found in re.finditer(r"'(?!main\.c|allocator\.c|pages\.c|assets\.c)\w+(?<!_table)\.c'", text):
            yield tree.line_of(text, found.start()), "a list of sources by hand; tools/sources.py finds them"


def check_c_file(root, path):
    text = path.read_text(encoding="utf-8")
    code = tree.code_only(text)
    yield from check_opening(path, text, code)
    yield from check_must_use(path, code)
    yield from check_functions(code)
    name = name_below_src(root, path)
    if name is not None:
        yield from check_banned(name, code)
        yield from check_logging(name, text)
        yield from check_indexes(code)
        yield from check_registry(code)


# --- every text file -------------------------------------------------------------------------------------------------


def check_length(path, text):
    lines = text.count("\n")
    if path.suffix in (".c", ".h", ".py", ".sh") and lines > FILE_MAX:
        yield lines, f"a file of {lines} lines; at most {FILE_MAX}"


def check_blanks(_path, text):
    for number, line in enumerate(text.splitlines(), 1):
        if "\t" in line:
            yield number, "a tab"
        if line != line.rstrip():
            yield number, "blanks at the end of the line"
    if text and not text.endswith("\n"):
        yield text.count("\n") + 1, "the last line does not end"


def check_words(_path, text):
    for found in re.finditer(r"\b(%s)\b" % "|".join(NOTES), text):
        yield tree.line_of(text, found.start()), f"{found.group(0)}: do it, or write it down where plans are kept"
    for found in re.finditer("|".join(re.escape(host) for host in REGISTRIES), text, re.IGNORECASE):
        yield tree.line_of(text, found.start()), "the host of a package registry; packages come from Debian by name"


def named_files(path, text):
    """(offset, name) of the files of this tree that a page or a comment names. A bare name is a file of any folder."""
    if path.suffix == ".md":
        yield from ((found.start(1), found.group(1)) for found in
                    re.finditer(r"`(?:\.\./)?((?:[\w*-]+/)*[\w-]+\.(?:c|h|py|html|js|css|txt))`", text))
    elif path.suffix in (".c", ".h"):
        for comment in re.finditer(r"/\*.*?\*/", text, re.DOTALL):
            yield from ((comment.start() + found.start(1), found.group(1)) for found in
                        re.finditer(r"(?<![\w./<])((?:[a-z_]+/)*[a-z_0-9]+\.[ch])\b", comment.group(0)))


def check_named_files(texts):
    """Pages and comments lead to files that are there: a name that was changed is changed everywhere."""
    texts = list(texts)
    ends = {"/".join(path.parts[-count:]) for path, _ in texts for count in range(1, len(path.parts))}
    for path, text in texts:
        for at, name in named_files(path, text):
            if name not in ends and name == name.lower() and not name.startswith("build/"):
                yield path, tree.line_of(text, at), f"there is no file {name}"


TEXT_CHECKS = [check_length, check_blanks, check_words, check_sources]


def percentile(values, part):
    return sorted(values)[int(part * (len(values) - 1))] if values else 0


def main(root):
    findings, lengths = [], []
    for path in tree.c_files(root):
        findings += [(path, line, sentence) for line, sentence in check_c_file(root, path)]
    findings += check_tables(root)
    findings += check_roles(root)
    for path in tree.c_files(root, "src"):
        lengths += [length for _, length in functions(tree.code_only(path.read_text(encoding="utf-8")))]
    findings += check_named_files(tree.text_files(root))
    for path, text in tree.text_files(root):
        if path.name in VERBATIM:
            continue
        for check in TEXT_CHECKS:
            findings += [(path, line, sentence) for line, sentence in check(path, text)]
    print(f"functions of src: {len(lengths)}, lines p50 {percentile(lengths, 0.5)}, p90 {percentile(lengths, 0.9)}, "
          f"longest {max(lengths, default=0)}")
    return tree.report(findings, root)


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else tree.ROOT))
