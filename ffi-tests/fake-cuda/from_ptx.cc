// Kernels that are interpreted from the PTX that the client hands over.

#include <filesystem>
#include <fstream>
#include <sstream>

#include "calls.h"
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

// Adds the instructions of a launch, its warps and its threads to those of the kernel in the log.
void log_counts(const ptx::Program &program, const ptx::Counts &counts, std::size_t blocks, std::size_t threads)
{
    constexpr std::size_t warp = 32;
    count("warps:" + program.name, blocks * ((threads + warp - 1) / warp));
    count("threads:" + program.name, blocks * threads);
    for (std::size_t n = 0; n < program.steps.size(); ++n) {
        const std::string &opcode = program.opcodes[n];
        if (opcode.empty())
            continue;
        count("warps:" + program.name + ":" + opcode, counts.warps[n]);
        count("threads:" + program.name + ":" + opcode, counts.threads[n]);
    }
}

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
        auto run = [=](const void *args, shim::Index grid, shim::Index block, bool cooperative) {
            DeviceMemory memory(device);
            ptx::roots = settings().roots;
            if (!settings().count)
                return ptx::run(*program, args, grid, block, cooperative, settings().order, memory, nullptr);
            ptx::Counts counts(program->steps.size());
            std::string wrong = ptx::run(*program, args, grid, block, cooperative, settings().order, memory, &counts);
            log_counts(*program, counts, shim::volume(grid), shim::volume(block));
            return wrong;
        };
        return std::make_shared<Kernel>(Kernel{name, program->parameter_bytes, program->threads, run});
    } catch (const ptx::Wrong &why) {
        complain(why.what());
        return nullptr;
    }
}
