// Kernels that shim/ compiled from their C++ source; the PTX only says which there are.

#include "modules.h"
#include "settings.h"

std::string replaced(const std::string &text) { return text; }

std::shared_ptr<const Kernel> make_kernel(const Device *, const std::string &, const std::string &name)
{
    const shim::Kernel *kernel = shim::find(name);
    if (!kernel) {
        complain("no kernel " + name + " in the shim");
        return nullptr;
    }
    auto run = [=](const void *args, shim::Index grid, shim::Index block, bool cooperative) {
        if (cooperative) // it would run one block after the other
            return name + ": the shim has no cooperative launches";
        return shim::launch(*kernel, args, grid, block, settings().order);
    };
    return std::make_shared<Kernel>(Kernel{name, kernel->args_size, kernel->threads, run});
}
