#!/usr/bin/env python3
"""run_fuzz.py -- runs the fuzz targets of build/fuzz, two at a time. Used by ./dev fuzz.

    run_fuzz.py [TARGET] [SECONDS]
A target is a program that fuzz/meson.build makes; its name may be given without the fuzz_ in front. What it learns stays in
build/fuzz-corpus/TARGET, so the next run goes on from there; fuzz/corpus/TARGET holds inputs to begin with, and
fuzz/TARGET.dict words of the format. An input that breaks the program is kept in build/fuzz-findings."""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PARALLEL = 2
SECONDS = 20
SECONDS_MAX = 7 * 86400
INPUT_SECONDS = 10  # one input that takes longer is a finding
MEMORY_MB = 2048
SHOWN_LINES = 60


def targets(root):
    """Name -> program."""
    answer = subprocess.run(["meson", "introspect", "--targets", str(root / "build/fuzz")], check=True,
                            capture_output=True)
    return {target["name"]: target["filename"][0] for target in json.loads(answer.stdout)
            if target["type"] == "executable" and target["defined_in"] == str(root / "fuzz/meson.build")}


def run(root, name, program, seconds):
    """(went well, what it printed)"""
    corpus, findings = root / "build/fuzz-corpus" / name, root / "build/fuzz-findings"
    corpus.mkdir(parents=True, exist_ok=True)
    findings.mkdir(parents=True, exist_ok=True)
    command = [program, f"-max_total_time={seconds}", f"-timeout={INPUT_SECONDS}", f"-rss_limit_mb={MEMORY_MB}",
               f"-artifact_prefix={findings}/{name}-", "-print_final_stats=1", str(corpus)]
    seeds, words = root / "fuzz/corpus" / name, root / "fuzz" / f"{name}.dict"
    if seeds.is_dir():
        command.append(str(seeds))
    if words.exists():
        command.append(f"-dict={words}")
    environment = {**os.environ, "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"}
    ended = subprocess.run(command, env=environment, cwd=root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    return ended.returncode == 0, ended.stdout


def show(name, well, output):
    executed = re.search(r"number_of_executed_units:\s*(\d+)", output)
    print(f"{'ok' if well else 'FAILED':6}  {name}: {executed.group(1) if executed else 'unknown'} inputs", flush=True)
    if not well:
        kept = re.search(r"Test unit written to (\S+)", output)
        print("".join(f"    {line}\n" for line in output.splitlines()[-SHOWN_LINES:]), end="")
        if kept:
            print(f"    the input is {kept.group(1)}; build/fuzz/fuzz/{name} {kept.group(1)} repeats it")


def choose(known, arguments):
    """The targets and the seconds, or a sentence."""
    words = [word for word in arguments if not word.isdigit()]
    numbers = [int(word) for word in arguments if word.isdigit()]
    if len(words) > 1 or len(numbers) > 1 or any(not 0 < number <= SECONDS_MAX for number in numbers):
        return None, None, "fuzz takes a target and a number of seconds, both optional"
    chosen = {name: known[name] for name in known if not words or name in (words[0], f"fuzz_{words[0]}")}
    if not chosen:
        return None, None, f"there is no fuzz target {' '.join(words) or 'at all'}; there are: {', '.join(known) or 'none yet'}"
    return chosen, numbers[0] if numbers else SECONDS, None


def main(arguments):
    chosen, seconds, sentence = choose(targets(ROOT), arguments)
    if sentence:
        print(f"dev: {sentence}", file=sys.stderr)
        return 2
    failed = []
    with concurrent.futures.ThreadPoolExecutor(PARALLEL) as pool:
        runs = {pool.submit(run, ROOT, name, program, seconds): name for name, program in sorted(chosen.items())}
        for future in concurrent.futures.as_completed(runs):
            show(runs[future], *future.result())
            if not future.result()[0]:
                failed.append(runs[future])
    if failed:
        print(f"dev: fuzzing found something in: {', '.join(sorted(failed))}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
