"""The smaller tools behind ./dev: recorded results, generated pages, fuzzing."""
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import check_hardening  # noqa: E402
import docs  # noqa: E402
import record  # noqa: E402
import run_fuzz  # noqa: E402


def script(path, body):
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def test_recording_again_replaces_the_section_and_leaves_the_others(tmp_path):
    (tmp_path / "bench").mkdir()
    output = tmp_path / "out.txt"
    for name, text in (("store", "first 1\n"), ("http", "pages 2\n"), ("store", "second 3\n")):
        output.write_text(text)
        record.main(name, output, root=tmp_path)
    page = (tmp_path / "bench/RESULTS.md").read_text()
    assert page.startswith("# Results\n")
    assert [line for line in page.splitlines() if line.startswith("## ")] == ["## store", "## http"]
    assert "first 1" not in page and "second 3" in page and "pages 2" in page
    assert "cores" in page and "Linux" in page


@pytest.fixture
def site(tmp_path, monkeypatch):
    (tmp_path / "docs").mkdir()
    monkeypatch.setattr(docs, "ROOT", tmp_path)
    return tmp_path


def test_a_stale_page_fails_and_is_printed_again(site, capsys):
    program = script(site / "ostraka", 'echo "# Settings by $1 $2"')
    assert docs.main(["--check", program]) == 1
    assert "docs/settings.md" in (said := capsys.readouterr().err) and "does not say what the program does" in said
    assert docs.main([program]) == 0
    assert (site / "docs/settings.md").read_text() == "# Settings by config --markdown\n"
    assert docs.main(["--check", program]) == 0


def test_no_program_is_no_fresh_page(site):
    assert docs.main(["--check", str(site / "missing")]) == 1


def test_fuzz_targets_are_chosen_by_name_and_seconds_by_number():
    known = {"fuzz_json": "a", "fuzz_config": "b"}
    assert run_fuzz.choose(known, []) == (known, run_fuzz.SECONDS, None)
    assert run_fuzz.choose(known, ["json", "5"]) == ({"fuzz_json": "a"}, 5, None)
    assert run_fuzz.choose(known, ["7"]) == (known, 7, None)
    assert "there are: fuzz_json, fuzz_config" in run_fuzz.choose(known, ["xml"])[2]
    assert run_fuzz.choose(known, ["json", "0"])[2]


def test_a_finding_fails_and_is_said_with_its_place(tmp_path, capsys):
    program = script(tmp_path / "broken", 'echo "Test unit written to /x/fuzz_a-crash-1"; exit 77')
    well, output = run_fuzz.run(tmp_path, "fuzz_a", program, 1)
    assert not well
    run_fuzz.show("fuzz_a", well, output)
    assert "build/fuzz/fuzz/fuzz_a /x/fuzz_a-crash-1 repeats it" in capsys.readouterr().out


def test_seeds_and_words_reach_the_target(tmp_path):
    (tmp_path / "fuzz/corpus/fuzz_a").mkdir(parents=True)
    (tmp_path / "fuzz/fuzz_a.dict").touch()
    well, output = run_fuzz.run(tmp_path, "fuzz_a", script(tmp_path / "echo", 'echo "$@"'), 3)
    assert well
    assert "-max_total_time=3 " in output and "/fuzz/corpus/fuzz_a" in output and "fuzz_a.dict" in output


def run_tool(name, *words):
    return subprocess.run([sys.executable, ROOT / "tools" / name, *map(str, words)], capture_output=True, text=True, check=True).stdout


def test_definitions_are_collected_in_order_and_where_they_begin_a_line(tmp_path):
    (tmp_path / "b.c").write_text("ROW(third, 1)\n")
    (tmp_path / "a.c").write_text("#define ROW(a, b)\nROW(first, 1);\n/* ROW(comment, 1)\n   ROW(more, 1) */\nROW(second,\n    2);\nROWS(none, 3) OTHER_ROW(none)\n")
    words = ["rows.h", "Row", "ROWS", "ROW_", "ROW", tmp_path / "b.c", tmp_path / "a.c"]
    run_tool("collect.py", tmp_path / "out.c", *words)
    text = (tmp_path / "out.c").read_text()
    assert '#include "rows.h"' in text and "extern const Row ROW_first;" in text
    assert text.split("{", 1)[1].split() == ["&ROW_first,", "&ROW_second,", "&ROW_third,", "NULL};"]
    run_tool("collect.py", tmp_path / "out.h", *words)
    text = (tmp_path / "out.h").read_text()
    assert text.startswith("#pragma once\n") and "extern const Row ROW_third;" in text and "NULL" not in text


@pytest.mark.parametrize("line", ["    ROW(inner, 1)", "#define FIVE(name) ROW(name##_row, 1)", "static ROW(first, 1);", "#define FIVE(name) \\\n    ROW(name, 1)"])
def test_a_definition_that_would_be_missed_is_an_error(tmp_path, line):
    (tmp_path / "a.c").write_text(f"/* A comment\n of two lines. */\nROW(one, 1);\n{line}\n")
    words = ["rows.h", "Row", "ROWS", "ROW_", "ROW", tmp_path / "a.c"]
    done = subprocess.run([sys.executable, ROOT / "tools/collect.py", tmp_path / "out.c", *map(str, words)], capture_output=True, text=True)
    where = 3 + len(line.splitlines())
    assert done.returncode != 0 and f"a.c:{where}: ROW( must begin a line" in done.stderr and not (tmp_path / "out.c").exists()


def test_an_empty_table_is_ended_all_the_same(tmp_path):
    run_tool("collect.py", tmp_path / "out.c", "rows.h", "Row", "ROWS", "ROW_", "ROW")
    assert "const Row *const ROWS[] = {\n    NULL};" in (tmp_path / "out.c").read_text()


def test_sources_of_a_module_are_all_files_below_it(tmp_path):
    (tmp_path / "inner").mkdir()
    for name in ("b.c", "a.c", "a.h", "page.html", "inner/c.c"):
        (tmp_path / name).touch()
    assert run_tool("sources.py", tmp_path).split() == ["a.c", "b.c", "inner/c.c"]
    assert run_tool("sources.py", tmp_path, "--flat").split() == ["a.c", "b.c"]
    assert run_tool("sources.py", tmp_path, ".html").split() == ["page.html"]


# ---- What programs are built with ----

PROGRAM = """#include <stdio.h>
int main(int count, char **arguments) {
    char text[32];
    snprintf(text, (unsigned long)count * 8, "%s", arguments[0]);
    return puts(text) < 0;
}
"""
HARD = ["-O2", "-pie", "-fPIE", "-Wl,-z,relro", "-Wl,-z,now", "-D_FORTIFY_SOURCE=3", "-fstack-protector-strong", "-fcf-protection=full"]


@pytest.mark.parametrize("left_out,instead,finding", [
    ("-pie", "-no-pie", "position independent"), ("-Wl,-z,relro", "-Wl,-z,norelro", "relro"), ("-Wl,-z,now", "-Wl,-z,lazy", "-z now"),
    ("-D_FORTIFY_SOURCE=3", "-U_FORTIFY_SOURCE", "_FORTIFY_SOURCE"), ("-fstack-protector-strong", "-fno-stack-protector", "stack protector"),
    ("-fcf-protection=full", "-fcf-protection=none", "-fcf-protection"), ("-O2", "-O2 -Wl,-z,execstack", "executable stack"), (None, "", None)])
def test_a_program_that_is_not_hardened_is_found(tmp_path, left_out, instead, finding):
    (tmp_path / "a.c").write_text(PROGRAM)
    flags = [flag for flag in HARD if flag != left_out] + instead.split()
    subprocess.run(["gcc", *flags, "-o", tmp_path / "a", tmp_path / "a.c"], check=True)
    found = check_hardening.findings(tmp_path / "a")
    assert found == [] if finding is None else len(found) == 1 and finding in found[0]
