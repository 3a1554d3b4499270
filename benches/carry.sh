#!/usr/bin/env bash
# What benches/gpu.sh needs on a machine that has a GPU but no Rust: built here, carried there.
#
#   benches/carry.sh pack      here: builds the library, its command, the programs and the tests for GPUs, into
#                              target/carry.tgz
#   benches/carry.sh unpack    there, in the same tree with target/carry.tgz in it: what was built goes where the tests
#                              look for it, and a stand-in for cargo answers their calls. It writes outside the tree:
#                              for machines that are thrown away afterwards
set -euo pipefail
cd "$(dirname "$0")/.."
carry=target/carry
libraries=(libkirin libkirin_nbody6 libkirin_sapporo)

pack() {
    local commit programs=(kirin hermite symplectic textbook treecode parallel monte-carlo)
    rm -rf "$carry"
    mkdir -p "$carry/release/deps"
    # The same features as the build of the tests below, whose library is the one that gets tested.
    cargo build --release --workspace --lib --bins --examples
    cargo test --release --workspace --no-run --message-format=json-render-diagnostics --test gpu |
        sed -n 's/.*"name":"gpu".*"executable":"\([^"]*\)".*/\1/p' >"$carry/tests"
    # What the tests read of cargo (ffi-tests/src/library.rs).
    cargo build --profile release --message-format=json-render-diagnostics --workspace --lib --bin kirin --examples |
        grep -E '"name":"kirin(_nbody6|_sapporo)?"' >"$carry/artifacts"
    cp $(<"$carry/tests") "$carry/release/deps/"
    cp "${programs[@]/#/target/release/}" "$carry/release/"
    for library in "${libraries[@]}"; do
        cp "target/release/$library.so" "$carry/release/"
        ln -s "$library.so" "$carry/release/$library.so.0"
    done
    # What the reports name.
    commit=$(git rev-parse --short=8 HEAD || echo unknown)
    git diff --quiet HEAD -- . ':!benches/results' || commit+=" and changes that were not committed"
    echo "$commit" >"$carry/release/commit"
    pwd >"$carry/tree"
    # `env!("CARGO")` of the tests.
    rustup which cargo >"$carry/cargo-path" 2>/dev/null || command -v cargo >"$carry/cargo-path"
    strip "$carry"/release/deps/*
    tar -C target -czf target/carry.tgz carry
    du -h target/carry.tgz
}

unpack() {
    local tree cargo
    if command -v cargo >/dev/null; then
        echo "this machine has a cargo: nothing is unpacked" >&2
        exit 1
    fi
    tar -C target -xzf target/carry.tgz
    tree=$(<"$carry/tree") cargo=$(<"$carry/cargo-path")
    [ -e "$tree" ] || { mkdir -p "$(dirname "$tree")" && ln -s "$PWD" "$tree"; }
    mkdir -p target/release target/tmp "$(dirname "$cargo")"
    cp -r "$carry/release/." target/release/
    # The archives are too large to carry, and the tests for GPUs do not link them.
    for library in "${libraries[@]}"; do
        touch "target/release/$library.a"
    done
    cat >"$cargo" <<'STAND_IN'
#!/usr/bin/env bash
# Stands in for cargo where everything was built elsewhere (benches/carry.sh).
cd TREE
case "$*" in
build*json*) cat target/carry/artifacts ;;
build*) ;;
test*"-- "*)
    failed=0
    while read -r test; do "$test" "${@:$((${#@}))}" || failed=1; done <target/carry/tests
    exit $failed
    ;;
run*)
    all=$*
    while [ $# != 0 ] && [ "$1" != --package ]; do shift; done
    [ $# != 0 ] || {
        echo "the stand-in for cargo does not know: $all" >&2
        exit 1
    }
    program=$2
    while [ "$1" != -- ]; do shift; done
    shift
    exec "target/release/$program" "$@"
    ;;
*)
    echo "the stand-in for cargo does not know: $*" >&2
    exit 1
    ;;
esac
STAND_IN
    sed -i "s|TREE|$tree|" "$cargo"
    chmod +x "$cargo"
    ln -sf "$cargo" /usr/local/bin/cargo
}

case ${1:-} in
pack | unpack) "$1" ;;
*)
    sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
