# lint.sh -- the checks of `./dev lint`, all of them even when one fails. Read by ./dev.

# step NAME COMMAND…: runs one check, remembers whether it failed.
step() {
    local name=$1
    shift
    if ("$@"); then
        printf 'ok      %s\n' "$name"
    else
        printf 'failed  %s\n' "$name"
        failed+=("$name")
    fi
}

check_format() {
    local files
    mapfile -t files < <(c_files)
    clang-format --dry-run -Werror "${files[@]}" || fail "./dev fmt formats them"
}

check_shell() {
    shellcheck -x dev .ci/run && shellcheck -x -s bash -e SC2034 tools/dev/*.sh
}

# Warnings are errors in every build; optimising finds more of them, and so do two compilers.
check_gcc() {
    configure lint-gcc gcc --buildtype=release -Dtests=true -Dbench=true
    compile lint-gcc
}

check_clang() {
    configure lint-clang clang --buildtype=release -Dtests=true -Dbench=true
    compile lint-clang
}

check_docs() {
    python tools/docs.py --check build/lint-gcc/src/cli/ostraka
}

# Of the program as it is shipped; PIE and checked calls depend on the kind of build.
check_hardening() {
    python tools/check_hardening.py build/lint-gcc/src/cli/ostraka
}

lint() {
    local failed=()
    cd -- "$ROOT" || exit
    step format check_format
    step shell check_shell
    step layers python tools/check_layers.py
    step style python tools/check_style.py
    step gcc check_gcc
    step clang check_clang
    step docs check_docs
    step hardening check_hardening
    [[ ${#failed[@]} -eq 0 ]] || fail "lint found something in: ${failed[*]}"
}
