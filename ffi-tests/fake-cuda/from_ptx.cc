// Kernels that are interpreted from the PTX that the client hands over.

#include <filesystem>
#include <fstream>
#include <sstream>

#include "modules.h"
#include "ptx/program.h"
#include "ptx/run.h"
#include "ptx/text.h"
#include "settings.h"

namespace {

// The memory that kernels of a device may use.
class DeviceMemory : public ptx::Memory {
public:
    explicit DeviceMemory(const Device *device) : device(device) {}

    ptx::Region *region(ptx::u64 at, unsigned bytes) override
    {
        const Allocation *a = holding(at, bytes);
        if (!a || a->freed || (a->owner ? a->owner != device : !a->mapped))
            return nullptr;
        if (!a->region)
            a->region = std::make_shared<ptx::Region>(a->begin, a->bytes);
        return a->region.get();
    }

private:
    const Device *device;
};

std::string first_kernel(const std::string &text)
{
    std::size_t at = text.find(".entry ");
    return at == std::string::npos ? "" : text.substr(at, text.find('(', at) - at);
}

} // namespace

std::string replaced(const std::string &text)
{
    if (settings().modules.empty() || first_kernel(text).empty())
        return text;
    for (const auto &entry : std::filesystem::directory_iterator(settings().modules)) {
        std::ifstream file(entry.path());
        std::stringstream other;
        other << file.rdbuf();
        // The client may hand over one kernel of a module.
        if (other.str().find(first_kernel(text) + "(") != std::string::npos)
            return other.str();
    }
    return text;
}

std::shared_ptr<const Kernel> make_kernel(const Device *device, const std::string &text, const std::string &name)
{
    if (!ptx::defines(text, name)) {
        complain("no kernel " + name + " in the PTX");
        return nullptr;
    }
    try {
        std::shared_ptr<const ptx::Program> program = ptx::compile(text, name);
        auto run = [=](const void *args, shim::Index grid, shim::Index block) {
            DeviceMemory memory(device);
            ptx::roots = settings().roots;
            return ptx::run(*program, args, grid, block, settings().order, memory);
        };
        return std::make_shared<Kernel>(Kernel{name, program->parameter_bytes, program->threads, run});
    } catch (const ptx::Wrong &why) {
        complain(why.what());
        return nullptr;
    }
}
