#!/usr/bin/env bash
# The host's half of block steps, without a GPU: the driver of ffi-tests that does nothing poses as an H100, so all time is
# kirin's own.
#
#   benches/host.sh LIBRARY [MILLISECONDS]   each case for so long, 100 without
#
# LIBRARY is a built libkirin.so. Each line: processor time and wall time of a step in microseconds, then bytes to the
# device, bytes from there, kernels and copies of a step. Bytes and copies are counted in a second run in which kernels
# cannot use memory of the host, so that all that they read and write is copied. At the end the time of one
# g6_set_j_particle on the CPU backend, in nanoseconds: steps of one i-particle with 4096 writes less those without.
# The settings IDLE_CUDA_... pose times of the device (ffi-tests/fake-cuda/README.md).
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."
library=$(realpath "${1:?benches/host.sh LIBRARY [MILLISECONDS]}") time=${2:-100}
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
gcc -std=c99 -O2 -Wall -Wextra -Werror -pedantic -o "$folder/hosttime" ffi-tests/clients/hosttime.c -ldl
g++ -std=c++17 -O2 -Wall -Wextra -Werror -fPIC -shared -Wl,-soname,libcuda.so.1 -o "$folder/libcuda.so.1" \
    ffi-tests/fake-cuda/others/idle.cc
export KIRIN_PRECISION=mixed KIRIN_THREADS=1 OMP_NUM_THREADS=1

# on_device CASE NJ NI SCATTERED
on_device() {
    local run=("$folder/hosttime" "$library" "$1" "$2" "$3" "$3" "$4")
    export KIRIN_BACKEND=cuda KIRIN_NPIPES=16384 LD_LIBRARY_PATH=$folder
    read -r processor wall _ _ kernels _ < <("${run[@]}" "$time")
    read -r _ _ up down _ copies < <(IDLE_CUDA_MAPS=0 "${run[@]}" 20)
    printf '%8d %6d %-30s %9.2f %9.2f %9.0f %9.0f %4.0f %4.0f\n' "$2" "$3" "$5" "$processor" "$wall" "$up" "$down" "$kernels" "$copies"
}

printf '%8s %6s %-30s %9s %9s %9s %9s %4s %4s\n' N ni step processor wall up down kernels copies
for nj in 1024 16384 65536 262144 1048576; do
    for ni in 1 16 256 16384; do
        [ "$ni" -le "$nj" ] || continue
        on_device 2 "$nj" "$ni" 0 force
        on_device 3 "$nj" "$ni" 0 "set_ti, force"
        on_device 7 "$nj" "$ni" 0 "set_ti, force, update in order"
        on_device 7 "$nj" "$ni" 1 "set_ti, force, update scattered"
    done
done

# The same with the times of an H100 in a virtual machine posed: 1.4 ps a pair, 40 ps a byte of a copy, 2 us an operation, 5 us
# to the device and back.
printf '\nforces on 16384 i-particles, the times of an H100 posed\n%8s %9s %9s\n' N processor wall
for nj in 16384 65536 262144; do
    export KIRIN_BACKEND=cuda KIRIN_NPIPES=16384 LD_LIBRARY_PATH=$folder
    read -r processor wall _ < <(IDLE_CUDA_PAIR=1.4 IDLE_CUDA_BYTE=40 IDLE_CUDA_OPERATION=2 IDLE_CUDA_WAY=5 \
        "$folder/hosttime" "$library" 2 "$nj" 16384 0 0 "$time")
    printf '%8d %9.1f %9.1f\n' "$nj" "$processor" "$wall"
done

# on_cpu CASE NJ SCATTERED
on_cpu() { KIRIN_BACKEND=cpu "$folder/hosttime" "$library" "$1" "$2" 1 4096 "$3" "$time" | cut -d' ' -f1; }

printf '\n%8s %20s %10s\n' N "set_j_particle, ns" alone
for nj in 16384 65536 262144; do
    for scattered in 0 1; do
        order=(in\ order scattered)
        # Assignments: a failure in the arguments of a command would go unseen.
        with=$(on_cpu 7 "$nj" $scattered)
        without=$(on_cpu 3 "$nj" $scattered)
        alone=$(on_cpu 4 "$nj" $scattered)
        awk -v n="$nj" -v order="${order[scattered]}" -v step="$with" -v rest="$without" -v alone="$alone" \
            'BEGIN { printf "%8d %-10s %9.1f %10.1f\n", n, order, (step - rest) / 4.096, alone / 4.096 }'
    done
done
