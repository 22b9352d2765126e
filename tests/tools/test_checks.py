"""The checks of `./dev lint`: a small good tree passes, and every single fault in it is found and named."""
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

GOOD = {
    "src/layers.txt": "# who may use whom\nbase:\nstore: base\nstore/rocksdb: base store\nweb: base store\n",
    "src/base/status.h": "/* status.h -- results. */\n#pragma once\n\nStatus reason_set(int status);\n",
    "src/base/world.c": "/* world.c -- the clock. */\n#include \"base/status.h\"\n\nlong now(void)\n{\n    return time(0);\n}\n",
    "src/store/store.h": "/* store.h -- the contract. */\n#pragma once\n\n#include \"base/status.h\"\n\n"
                         "typedef Status Visit(int cell);\nMUST_USE Status store_read(int row);\n"
                         "typedef struct Engine {\n    Status (*open)(int mode);\n} Engine;\n",
    "src/store/rocksdb/rocksdb.c": "/* rocksdb.c -- the engine. */\n#include \"store/store.h\"\n",
    "src/web/web.c": "/* web.c -- says \"time()\" and open() in a comment. */\n#include \"base/log.h\"\n"
                     "static const char *TEXT = \"printf(1)\";\nstatic void use(Engine *engine)\n{\n"
                     "    engine->open(1);\n    store_open(TEXT);\n}\n",
    "README.md": "# Small\n",
}


def check(name, tree):
    return subprocess.run([sys.executable, str(ROOT / "tools" / name), str(tree)], capture_output=True, text=True)


@pytest.fixture
def tree(tmp_path):
    for name, text in GOOD.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def add(tree, name, text):
    path = tree / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text((path.read_text() if path.exists() else "") + text)


@pytest.mark.parametrize("name", ["check_layers.py", "check_style.py"])
def test_a_good_tree_passes(tree, name):
    result = check(name, tree)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("name, text, where, said", [
    ("src/base/ids.c", '#include "store/store.h"\n', "src/base/ids.c:1", "base may not use store"),
    ("src/web/page.c", '\n # include "store/rocksdb/rocksdb.h"\n', "src/web/page.c:2", "web may not use store/rocksdb"),
    ("src/mail/mail.c", "\n", "src/mail/mail.c:1", "src/mail is not listed"),
    ("src/store/sim/sim.c", "\n", "src/store/sim/sim.c:1", "src/store/sim is not listed"),
    ("src/web/page.c", '#include "page.h"\n', "src/web/page.c:1", "does not begin with a module"),
    ("src/layers.txt", "cli: tasks\n", "src/layers.txt:6", "does not stand above"),
    ("src/layers.txt", "base:\n", "src/layers.txt:6", "each module once"),
])
def test_a_breach_of_the_layers_is_found(tree, name, text, where, said):
    add(tree, name, text)
    result = check("check_layers.py", tree)
    assert result.returncode == 1
    assert where in result.stdout and said in result.stdout


def c_file(name, code):
    return name, f"/* {name.rsplit('/', 1)[1]} -- a file. */\n{code}"


LONG = "void f(void)\n{\n" + "    g();\n" * 79 + "}\n"


@pytest.mark.parametrize("name, text, said", [
    c_file("src/web/a.c", "long x = time(0);\n") + ("Clock",),
    c_file("src/base/a.c", "int x = rand();\n") + ("Random",),
    c_file("src/web/a.c", "int x = clock_gettime (1, 0);\n") + ("Clock",),
    c_file("src/store/a.c", "int x = open(0, 0);\n") + ("Disk",),
    c_file("src/store/a.c", "char *x = getenv(0);\n") + ("config",),
    c_file("src/store/a.c", "void f() { printf(0); }\n") + ("terminal",),
    c_file("src/store/a.c", "void f() { exit(0); }\n") + ("ends the process",),
    c_file("src/cli/a.c", "void f() { system(0); }\n") + ("no other programs",),
    c_file("src/cli/a.c", "void f() { strcpy(0, 0); }\n") + ("unbounded",),
    c_file("src/store/a.c", '#include "base/log.h"\n') + ("only web, tasks and cli log",),
    c_file("src/store/a.h", "#pragma once\nStatus store_write(int row);\n") + ("store_write returns a Status",),
    c_file("src/store/a.h", "#pragma once\nstatic inline Status\nf(int row)\n{\n}\n") + ("f returns a Status",),
    c_file("src/store/a.h", "int x;\n") + ("#pragma once",),
    c_file("src/web/a.c", "Slice x = web_text(request, 3);\n") + ("bare index",),
    c_file("src/web/a.c", "Slice x = web_text(page->request,\n                   3);\n") + ("bare index",),
    c_file("src/web/a.c", "Slice x = web_text(request, first + 1);\n") + ("bare index",),
    c_file("src/web/a.c", "Slice x = web_text(request, FIRST + 1);\n") + ("bare index",),
    c_file("src/web/a.c", "Slice x = web_text(request, first);\n") + ("bare index",),
    c_file("src/web/a.c", "#define X(name) extern const Schema name;\n") + ("let the build collect it",),
    c_file("src/web/a.c", "#define X(name, word) \\\n    extern const Schema name;\n") + ("let the build collect it",),
    c_file("src/web/a.c", "const Operation *const ALL[] = {\n    &OPERATION_one,\n    &OPERATION_two,\n};\n") + ("let the build collect it",),
    c_file("src/web/a.c", "void f(void)\n{\n    pthread_create(0, 0, 0, 0);\n}\n") + ("rows of a table",),
    c_file("src/web/a.c", "bool x = (account->roles & 1) != 0;\n") + ("ask actor_has",),
    c_file("src/web/a.c", "bool x = list[i].denied == 0;\n") + ("ask actor_has",),
    c_file("src/web/a.c", "bool x = account_has(account, 1);\n") + ("ask actor_has",),
    ("src/site/pages/a.html", "% if (account_has_any(account, 1)) {\n", "ask actor_has"),
    c_file("src/store/a.c", LONG) + ("a function of 81 lines",),
    c_file("tests/a_test.c", LONG) + ("a function of 81 lines",),
    c_file("src/store/a.c", "int x;\n" * 700) + ("a file of 701 lines",),
    ("src/store/a.c", "/* web.c -- another. */\n", "begins with `/* a.c -- "),
    ("fuzz/a.c", "int x;\n", "begins with `/* a.c -- "),
    ("tools/a.py", "# TO" + "DO: later\n", "do it"),
    ("docs/a.md", "see FIX" + "ME\n", "do it"),
    ("docs/a.md", "see `base/gone.c`\n", "no file base/gone.c"),
    c_file("src/base/a.c", "/* As store/base.h says. */\n") + ("no file store/base.h",),
    ("docs/a.md", "two blanks  \n", "blanks at the end"),
    ("docs/a.md", "a\ttab\n", "a tab"),
    ("docs/a.md", "no end", "does not end"),
    ("docs/a.md", "from https://deb.debian" + ".org/debian\n", "package registry"),
    ("tools/a.sh", "pip install -i https://PyPI" + ".org/simple\n", "package registry"),
])
def test_a_breach_of_style_is_found(tree, name, text, said):
    add(tree, name, text)
    result = check("check_style.py", tree)
    assert result.returncode == 1
    assert f"{name}:" in result.stdout and said in result.stdout
    assert len(result.stdout.splitlines()) == 2, result.stdout


def test_what_a_build_made_is_not_judged(tree):
    add(tree, "build/test/a.md", "a\ttab")
    add(tree, "data/a.txt", "a\ttab")
    assert check("check_style.py", tree).returncode == 0


def test_eighty_lines_are_not_too_many(tree):
    add(tree, *c_file("src/store/a.c", LONG.replace("    g();\n", "", 1)))
    assert check("check_style.py", tree).returncode == 0
