"""`./dev` itself: it installs only what is missing, builds again when it must, and fails in one sentence."""
import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = "bash cat dirname env find mkdir nice readlink rm sed sort tail"


def program(path, body):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/bash\n{body}\n")
    path.chmod(0o755)


@pytest.fixture
def bare(tmp_path):
    """A machine with nothing on it, where packages are files in a folder; gives a function that runs ./dev fmt."""
    shutil.copy(ROOT / "dev", tmp_path)
    shutil.copytree(ROOT / "tools/dev", tmp_path / "tools/dev")
    for folder in ("src", "tests", "fuzz", "bench"):
        (tmp_path / folder).mkdir()
    (tmp_path / "src/a.c").write_text("int a;\n")
    path, packages, log = tmp_path / "bin", tmp_path / "packages", tmp_path / "log"
    packages.mkdir()
    log.touch()
    path.mkdir()
    for tool in TOOLS.split():
        (path / tool).symlink_to(shutil.which(tool))
    program(path / "dpkg-query", f'for p; do :; done; [[ -e {packages}/$p ]] && printf installed')
    program(path / "clang-format", f'echo "clang-format $*" >> {log}')
    program(path / "apt-get", f'echo "apt-get $*" >> {log}\n[[ " $* " == *" update "* ]] || : > {packages}/clang-format')

    def go(uid="0"):
        program(path / "id", f"echo {uid}")
        result = subprocess.run([str(tmp_path / "dev"), "fmt"], env={"PATH": str(path)}, capture_output=True, text=True,
                                timeout=60)
        return result, log.read_text().splitlines()

    go.path, go.packages = path, packages
    return go


def test_root_installs_what_is_missing_without_recommendations(bare):
    result, log = bare()
    assert result.returncode == 0, result.stderr
    assert log[0].endswith(" update")
    assert log[1].endswith(" install --no-install-recommends clang-format")
    assert log[2] == "clang-format -i src/a.c"


def test_what_is_there_is_not_installed_again(bare):
    (bare.packages / "clang-format").touch()
    result, log = bare("1000")
    assert result.returncode == 0
    assert log == ["clang-format -i src/a.c"]


def test_without_root_it_goes_through_sudo(bare, tmp_path):
    program(bare.path / "sudo", f'echo "sudo $*" >> {tmp_path}/log; shift; "$@"')
    result, log = bare("1000")
    assert result.returncode == 0, result.stderr
    assert log[0].startswith("sudo -- env DEBIAN_FRONTEND=noninteractive apt-get")


def test_without_root_and_sudo_it_says_what_to_install(bare):
    result, log = bare("1000")
    assert result.returncode == 1 and log == []
    assert result.stderr == ("dev: needs root to install packages; ask your administrator for: "
                             "apt-get install clang-format\n")


def test_a_failed_installation_says_why(bare):
    program(bare.path / "apt-get", "echo 'E: no such package'; exit 100")
    result, _ = bare()
    assert result.returncode == 1
    assert "E: no such package" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("dev: could not install clang-format;")


@pytest.mark.parametrize("words, said", [
    (["frob"], "dev: there is no command frob; ./dev help lists them\n"),
    (["lint", "src"], "dev: lint takes no arguments\n"),
    (["bench", "--fast"], "dev: bench has no option --fast\n"),
    (["bench", "a", "b"], "dev: bench takes one name\n"),
])
def test_wrong_usage_is_one_sentence(words, said):
    result = subprocess.run([str(ROOT / "dev"), *words], capture_output=True, text=True)
    assert (result.returncode, result.stderr, result.stdout) == (2, said, "")


def test_help_names_every_command():
    text = subprocess.run([str(ROOT / "dev"), "help"], capture_output=True, text=True, check=True).stdout
    for command in "run test e2e attack lint fmt docs bench sim cluster fuzz help".split():
        assert f"\n  {command} " in text


@pytest.fixture
def small(tmp_path):
    """A tree whose `ostraka` prints its arguments and where it stands."""
    shutil.copy(ROOT / "dev", tmp_path)
    shutil.copytree(ROOT / "tools/dev", tmp_path / "tools/dev")
    (tmp_path / "src/cli").mkdir(parents=True)
    (tmp_path / "meson.build").write_text("project('small', 'c')\nsubdir('src/cli')\n")
    (tmp_path / "src/cli/meson.build").write_text("executable('ostraka', 'main.c')\n")
    (tmp_path / "src/cli/main.c").write_text(
        "#include <stdio.h>\n#include <unistd.h>\nint main(int argc, char **argv)\n{\n    char here[4096];\n"
        "    if (getcwd(here, sizeof here)) puts(here);\n    for (int i = 1; i < argc; i++) puts(argv[i]);\n}\n")
    program(tmp_path / "bin/dpkg-query", "printf installed")
    environment = {**os.environ, "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}

    def go(*words, cwd):
        return subprocess.run([str(tmp_path / "dev"), *words], cwd=cwd, env=environment, capture_output=True, text=True,
                              timeout=120)

    return go


def test_run_hands_over_its_flags_and_stays_where_it_was_called(small, tmp_path):
    (tmp_path / "else where").mkdir()
    result = small("run", "--data", "my data", cwd=tmp_path / "else where")
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == [str(tmp_path / "else where"), "serve", "--data", "my data"]
    again = small("run", cwd=tmp_path)
    assert again.stderr == "", "the second time there is nothing to configure"


def test_other_options_configure_again(small, tmp_path):
    assert small("run", cwd=tmp_path).returncode == 0
    (tmp_path / "build/release/.options").write_text("gcc --buildtype=debug\n")
    assert "configuring build/release" in small("run", cwd=tmp_path).stderr


def test_a_program_that_does_not_compile_is_one_sentence_below_the_errors(small, tmp_path):
    (tmp_path / "src/cli/main.c").write_text("int main(void) { return wrong; }\n")
    result = small("run", cwd=tmp_path)
    assert result.returncode == 1
    assert "wrong" in result.stderr
    assert result.stderr.splitlines()[-1] == "dev: build/release does not compile; the errors are above"


def test_a_tree_that_cannot_be_configured_says_why(small, tmp_path):
    (tmp_path / "meson.build").write_text("project('small', 'c')\ndependency('no-such-library')\n")
    result = small("run", cwd=tmp_path)
    assert result.returncode == 1
    assert "no-such-library" in result.stderr
    assert result.stderr.splitlines()[-1] == "dev: build/release could not be configured; the reason is above"
