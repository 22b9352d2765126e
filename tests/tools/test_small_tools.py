"""The smaller tools behind ./dev: recorded results, generated pages, fuzzing."""
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

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
