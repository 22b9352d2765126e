# packages.sh -- which Debian packages a command needs, and how they get here. Read by ./dev.
#
# Recommended packages are left out, so what gcc and clang only recommend is named here.
declare -A PACKAGES=(
    [build]="gcc libc6-dev meson ninja-build pkg-config python3 librocksdb-dev libjansson-dev libjemalloc-dev
             libsodium-dev libutf8proc-dev libcrypt-dev libcmark-dev libcurl4-openssl-dev libssl-dev
             zlib1g-dev libbrotli-dev brotli libqrencode-dev liboath-dev"
    [test]="python3-pytest python3-aiosmtpd python3-cassandra python3-cryptography openssl zbar-tools mandoc"
    [e2e]="chromium python3-venv"
    [attack]="nginx haproxy iproute2 binutils"
    [clients]="beanstalkd iproute2 python3-venv"
    [node]="nodejs npm"
    [lint]="clang clang-format libpq-dev shellcheck"
    [fmt]="clang-format"
    [fuzz]="clang libclang-rt-14-dev"
    [cluster]="python3 python3-cassandra openjdk-17-jre-headless maven"
    [bench]="postgresql-15 libpq-dev nginx wrk beanstalkd"
    [queues]="redis-server"
)

# Those of the named packages that are not installed.
missing_packages() {
    local package
    for package in "$@"; do
        [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || printf '%s\n' "$package"
    done
}

# as_root COMMAND…; false when we neither are root nor can become it.
as_root() {
    if [[ $(id -u) -eq 0 ]]; then
        "$@"
    else
        sudo -- "$@"
    fi
}

# install_packages NEED…: after it, all packages of these needs are there.
install_packages() {
    local need wanted=() missing
    for need in "$@"; do
        # shellcheck disable=SC2206 # split at blanks
        wanted+=(${PACKAGES[$need]})
    done
    if ! command -v dpkg-query >/dev/null; then
        say "this is no Debian; going on in the hope that these are there by other names: ${wanted[*]}"
        return
    fi
    mapfile -t missing < <(missing_packages "${wanted[@]}")
    [[ ${#missing[@]} -gt 0 ]] || return 0
    if [[ $(id -u) -ne 0 ]] && ! command -v sudo >/dev/null; then
        fail "needs root to install packages; ask your administrator for: apt-get install ${missing[*]}"
    fi
    say "installing ${missing[*]}"
    local log="$ROOT/build/apt.log" apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300)
    mkdir -p -- "$ROOT/build"
    # A failed update need not matter: the lists that are there may do.
    as_root "${apt[@]}" update >"$log" 2>&1 || say "the package lists could not be refreshed"
    if ! as_root "${apt[@]}" install --no-install-recommends "${missing[@]}" >>"$log" 2>&1; then
        tail -n 20 -- "$log" >&2
        fail "could not install ${missing[*]}; the reason is above and in $log"
    fi
}

# install_python_packages VENV LIST: after it, a virtual environment has what the list names.
install_python_packages() {
    local venv=$1 list=$2
    ! cmp -s -- "$list" "$venv/requirements.txt" || return 0
    say "installing what $list names into $venv"
    rm -rf -- "$venv"
    mkdir -p -- "$(dirname -- "$venv")"
    python -m venv "$venv"
    "$venv/bin/pip" install -q --disable-pip-version-check -r "$list" || fail "could not install it; the reason is above"
    cp -- "$list" "$venv/requirements.txt"
}

# install_python_source DIRECTORY NAME VERSION: after it, DIRECTORY/NAME-VERSION is the source of that package, its tests with it.
# It is unpacked where DIRECTORY/venv is, which has what making its description needs.
install_python_source() {
    local directory=$1 name=$2 version=$3
    [[ ! -d $directory/$name-$version ]] || return 0
    say "fetching the source of $name $version into $directory"
    if ! { "$directory/venv/bin/pip" download -q --disable-pip-version-check --no-deps --no-build-isolation --no-binary :all: -d "$directory" "$name==$version" &&
        tar -xzf "$directory/$name-$version.tar.gz" -C "$directory"; }; then
        fail "could not fetch $name; the reason is above"
    fi
}

# install_node_packages DIRECTORY "NAME@VERSION …": after it, these packages of npm are there. Node may be of another origin than Debian's.
install_node_packages() {
    local directory=$1 packages=$2
    [[ $(cat -- "$directory/installed.txt" 2>/dev/null) != "$packages" ]] || return 0
    if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
        install_packages node
    fi
    say "installing $packages into $directory"
    mkdir -p -- "$directory"
    # shellcheck disable=SC2086 # one word a package
    npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$directory" $packages || fail "could not install $packages; the reason is above"
    printf '%s\n' "$packages" >"$directory/installed.txt"
}
