// Runs the kernels that shim.h compiled: blocks one after another, the threads of a block as
// fibers (fibers.cc) or, with -DKIRIN_SHIM_THREADS, as threads of the system (threads.cc).
#ifndef KIRIN_SHIM_LAUNCH_H
#define KIRIN_SHIM_LAUNCH_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#ifdef KIRIN_SHIM_THREADS
#define KIRIN_SHIM_LOCAL thread_local
#else
#define KIRIN_SHIM_LOCAL
#endif

namespace shim {

struct Index {
    unsigned x, y, z;
};

// A kernel of a module; made by the macro KERNEL.
struct Kernel {
    const char *name;
    std::size_t args_size;
    unsigned threads; // the most that a block may have
    void (*thread)(const void *args);
};

struct Registration {
    explicit Registration(const Kernel &kernel);
};

// The kernel of that name, or null.
const Kernel *find(const std::string &name);
const std::vector<const Kernel *> &kernels();

// In which order the blocks run, and the threads of a block between two barriers. A kernel
// that lacks a barrier gives other results in another order.
struct Order {
    enum Kind { forward, reverse, shuffled } kind = forward;
    std::uint64_t seed = 0;
};

// Runs a grid. Empty if all went well, or what went wrong: threads of one block that wait at
// different barriers, or at one that others never reach.
std::string launch(const Kernel &kernel, const void *args, Index grid, Index block, Order order);

// __syncthreads: returns whether any thread of the block voted.
int barrier(const char *file, int line, int vote);
void fence();
// Nanoseconds: the clock of a processor of 1 GHz.
long long clock();

} // namespace shim

extern KIRIN_SHIM_LOCAL shim::Index threadIdx, blockIdx;
extern shim::Index blockDim, gridDim;

#endif
