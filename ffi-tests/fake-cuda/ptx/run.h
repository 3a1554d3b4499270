// Runs a grid of thread blocks.
#ifndef FAKE_CUDA_PTX_RUN_H
#define FAKE_CUDA_PTX_RUN_H

#include <string>

#include "global.h"
#include "order.h"
#include "program.h"

namespace ptx {

// How often each step of a program was carried out: by warps, where each group of threads that have parted counts, and by threads.
struct Counts {
    explicit Counts(std::size_t steps) : warps(steps), threads(steps) {}
    std::vector<u64> warps, threads;
};

// Empty if all went well, or what went wrong. In plain order one block runs after the other, each thread
// until it has to wait; in shuffled order some blocks run at a time and take turns anywhere. The blocks of a cooperative
// launch wait for each other, so all of them run at a time and take turns in every order. `counts` may be null.
std::string run(const Program &program, const void *arguments, shim::Index blocks, shim::Index threads, bool cooperative,
                shim::Order order, Memory &memory, Counts *counts);

} // namespace ptx

#endif
