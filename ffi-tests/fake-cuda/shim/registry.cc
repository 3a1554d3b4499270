// The kernels of the modules that were linked together, and the grid's own variables.

#include "launch.h"

#include <chrono>

KIRIN_SHIM_LOCAL shim::Index threadIdx, blockIdx;
shim::Index blockDim, gridDim;

namespace shim {

// A function's static: kernels register before main, in no order that is known.
static std::vector<const Kernel *> &registry()
{
    static std::vector<const Kernel *> all;
    return all;
}

Registration::Registration(const Kernel &kernel) { registry().push_back(&kernel); }

const std::vector<const Kernel *> &kernels() { return registry(); }

const Kernel *find(const std::string &name)
{
    for (const Kernel *kernel : registry())
        if (name == kernel->name)
            return kernel;
    return nullptr;
}

long long clock()
{
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

} // namespace shim
