#!/usr/bin/env bash
# All that a machine with a GPU can tell, into benches/results/gpu-NAME: tests, sanitizers, errors, speed; at the end
# the blocks' times beside those that were predicted, with a verdict for each (benches/verdict.py).
#
#   benches/gpu.sh [--seconds S] NAME
#                                NAME is the machine's in the names of the files, h200 for example; S is the time of
#                                each of four benchmarks, 60 without
#   benches/gpu.sh --quick NAME  the smallest sizes: to try the script, on the fake driver for example (its
#                                folder on LD_LIBRARY_PATH), into target/tmp; the figures mean nothing
#
# A machine without Rust gets what it needs by benches/carry.sh. No step takes longer than five minutes.
set -uo pipefail
cd "$(dirname "$0")/.."

to=benches/results seconds=60 check=() bench=(--ni 1,8,32,256,full) sizes=(1024 16384 65536)
plan=(--nj 1024,4096,16384,65536 --ni 1,8,32,48,256)
variants=()
if [ "${1:-}" = --quick ]; then
    shift
    to=${CARGO_TARGET_DIR:-target}/tmp check=(--n 100) sizes=(1024)
    seconds=0.1 bench=(--n 64 --ni 1,full --rounds 2)
    plan=(--nj 64,1024 --ni 1,8,32,48,64,256)
    variants=(--check)
    profile=debug
elif [ "${1:-}" = --seconds ]; then
    seconds=$2
    shift 2
fi
name=${1:?benches/gpu.sh [--quick | --seconds S] NAME}
to=$to/gpu-$name
[ "${#variants[@]}" -gt 0 ] || variants=(--json "$to/variants.json")
profile=${profile:-release}
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$to"
export KIRIN_BACKEND=cuda
failures=0

# Functions of this script have their own programs to end; everything else gets five minutes.
limited() {
    if [ "$(type -t "$1")" = file ]; then timeout 300 "$@"; else "$@"; fi
}

# step FILE COMMAND...: what a command prints, in a file that says what it was.
step() {
    local file=$to/$1.txt
    shift
    printf '== %s\n' "$*"
    {
        printf '$ %s\n' "$*"
        limited "$@"
    } >"$file" 2>&1 || {
        echo "it says no ($?): see $file"
        failures=$((failures + 1))
    }
}

if [ "$profile" = release ]; then
    cargo build --release || exit 1
    step tests cargo test --release -p ffi-tests --test gpu -- --nocapture
else
    cargo build || exit 1
fi
kirin=$target/$profile/kirin
in_use=$("$kirin" info 2>&1)
grep -q '^in use *cuda' <<<"$in_use" || {
    printf 'no GPU is used:\n%s\n' "$in_use"
    exit 1
}
command -v nvidia-smi >/dev/null && step machine nvidia-smi -q

for precision in mixed double single double-single; do
    export KIRIN_PRECISION=$precision
    step "plan-$precision" "$kirin" info --plan "${plan[@]}"
    step "check-$precision" "$kirin" check "${check[@]}"
    rm -f "$to/bench-$precision.json"
    step "bench-$precision" "$kirin" bench --library 'KIRIN_NPIPES=256 kirin' --library kirin "${bench[@]}" \
        --seconds "$seconds" --json "$to/bench-$precision.json"
done
export KIRIN_PRECISION=mixed

# Small blocks: the median of both halves, in microseconds.
cc -O2 -Iinclude ffi-tests/clients/steps.c -L"$target/$profile" -lkirin -Wl,-rpath,"$(realpath "$target/$profile")" \
    -o "$to/steps" || exit 1
small() {
    echo "      nj     ni nearest join         us"
    for n in "${sizes[@]}"; do
        for ni in 1 8 32 256; do
            for nearest in 0 1; do
                for join in auto host device; do
                    KIRIN_JOIN=$join "$to/steps" "$n" "$ni" 201 "$nearest" 0 | sort -k2n |
                        awk -v n="$n" -v ni="$ni" -v near="$nearest" -v join="$join" \
                            'NR == 101 { printf "%8d %6d %7d %-8s %6.1f\n", n, ni, near, join, 1e6 * $2 }' || return 1
                done
            done
        done
    done
}
step small-blocks small

if command -v compute-sanitizer >/dev/null; then
    for tool in memcheck racecheck initcheck synccheck; do
        step "sanitizer-$tool" compute-sanitizer --tool "$tool" --error-exitcode 9 "$to/steps" 3000 40 3 1 0
    done
else
    echo "SKIPPED: no compute-sanitizer"
fi
rm -f "$to/steps"

# The variants of the pair loop: the fastest for each block, and what the warps of each wait for, as the profiler prints it.
if command -v python3 >/dev/null; then
    step variants benches/variants.py "${variants[@]}"
    if command -v ncu >/dev/null; then
        step variants-ncu ncu --section SpeedOfLight --section SchedulerStats --section WarpStateStats \
            --section MemoryWorkloadAnalysis_Tables --kernel-name regex:variant_ benches/variants.py --profile
    else
        echo "SKIPPED: no ncu"
    fi
fi
if command -v python3 >/dev/null; then
    step verdict benches/verdict.py "$to"
    cat "$to/verdict.txt"
else
    echo "SKIPPED: no python3, no verdict"
fi
echo "$to: $failures of the steps above said no"
[ "$failures" = 0 ]
