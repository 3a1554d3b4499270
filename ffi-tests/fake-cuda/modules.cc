// Modules and launches. The text of a module decides which kernels it has.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "calls.h"
#include "modules.h"
#include "order.h"
#include "settings.h"

namespace {

// The number after `word` in the text, or -1.
long number_after(const std::string &text, const std::string &word)
{
    std::size_t at = text.find(word);
    return at == std::string::npos ? -1 : std::strtol(text.c_str() + at + word.size(), nullptr, 10);
}

// Whether the driver takes the text: PTX of a version that it knows, for the device or an older one.
CUresult accept(const std::string &text)
{
    long major = number_after(text, ".version "), target = number_after(text, ".target sm_");
    if (major < 0 || target < 0)
        return INVALID_PTX;
    long minor = number_after(text, ".version " + std::to_string(major) + ".");
    // CUDA 11.n knows PTX 7.n, CUDA 12.n knows 8.n.
    long known = (settings().driver / 1000 - 4) * 10 + settings().driver % 1000 / 10;
    if (major * 10 + minor > known)
        return UNSUPPORTED_PTX_VERSION;
    return target > settings().major * 10 + settings().minor ? NO_BINARY_FOR_GPU : SUCCESS;
}

CUresult load(Device *device, CUmodule *out, const void *image)
{
    std::string text = replaced(static_cast<const char *>(image));
    CUresult code = accept(text);
    if (code != SUCCESS)
        return code;
    *out = new Module{device, std::move(text), {}};
    state().modules.insert(*out);
    return SUCCESS;
}

bool is_legal(shim::Index grid, shim::Index block, unsigned threads)
{
    using shim::volume;
    return volume(grid) > 0 && volume(block) > 0 && grid.x <= 0x7fffffff && grid.y <= 65535 &&
           grid.z <= 65535 && block.z <= 64 && volume(block) <= threads;
}

// An argument that looks like an address must be one that the device may use.
CUresult check_arguments(const Device *device, const Kernel &kernel, const char *args)
{
    for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= kernel.args_size; at += 8) {
        std::uintptr_t word;
        std::memcpy(&word, args + at, sizeof word);
        const Allocation *a = holding(word, 1);
        if (!a)
            continue;
        const char *wrong = a->freed                           ? " points into freed memory"
                            : a->owner && a->owner != device ? " belongs to another device"
                            : !a->owner && !a->mapped        ? " points into memory that is not mapped"
                                                             : nullptr;
        if (wrong) {
            complain(kernel.name + ": the argument at byte " + std::to_string(at) + wrong);
            return ILLEGAL_ADDRESS;
        }
    }
    return SUCCESS;
}

CUresult execute(const Device *device, const Kernel &kernel, shim::Index grid, shim::Index block, bool cooperative,
                 const std::vector<char> &args)
{
    if (CUresult code = check_arguments(device, kernel, args.data()))
        return code;
    std::string wrong = kernel.run(args.data(), grid, block, cooperative);
    if (!wrong.empty()) {
        complain(wrong);
        return LAUNCH_FAILED;
    }
    CUresult code = check_zones();
    if (code != SUCCESS)
        complain(kernel.name + " wrote out of bounds");
    return code;
}

int resident(const Function *function, int threads)
{
    int by_registers = 65536 / int(settings().registers) / threads;
    return threads > int(function->kernel->threads) ? 0 : std::min(2048 / threads, by_registers);
}

// Whether the device takes a launch whose blocks wait for each other.
CUresult cooperates(const Function *function, shim::Index grid, shim::Index block)
{
    if (!settings().cooperates)
        return NOT_SUPPORTED;
    const std::size_t at_a_time = std::size_t(resident(function, int(shim::volume(block)))) * settings().multiprocessors;
    return shim::volume(grid) > at_a_time ? COOPERATIVE_LAUNCH_TOO_LARGE : SUCCESS;
}

CUresult launch(Device *device, Function *function, shim::Index grid, shim::Index block, bool cooperative, CUstream handle,
                void **parameters)
{
    Stream *stream = find_stream(handle);
    if (!stream || function->device != device)
        return INVALID_HANDLE;
    std::shared_ptr<const Kernel> kernel = function->kernel;
    if (!parameters || !is_legal(grid, block, kernel->threads)) {
        complain(kernel->name + ": a grid or block that no device takes");
        return INVALID_VALUE;
    }
    if (CUresult code = cooperative ? cooperates(function, grid, block) : CUresult(SUCCESS))
        return code;
    count("blocks", shim::volume(grid));
    count("kernel:" + kernel->name, 1);
    std::vector<char> args(kernel->args_size);
    for (std::size_t n = 0; n < function->parameters.size(); ++n)
        std::memcpy(args.data() + function->parameters[n].at, parameters[n], function->parameters[n].bytes);
    if (CUresult code = check_arguments(device, *kernel, args.data()))
        return code;
    note(kernel->name + " " + std::to_string(shim::volume(grid)));
    return enqueue_kernel(stream, [=] { return execute(device, *kernel, grid, block, cooperative, args); });
}

} // namespace

void unload(Device *device)
{
    auto &modules = state().modules;
    for (auto at = modules.begin(); at != modules.end();)
        at = (*at)->device == device ? (delete *at, modules.erase(at)) : std::next(at);
}

CALL(cuModuleLoadData, CUmodule *out, const void *image)
{
    return call_current(__func__, [=](Device *device) { return load(device, out, image); });
}

// Of the options it knows the buffer for errors (5) and its size (6).
CALL(cuModuleLoadDataEx, CUmodule *out, const void *image, unsigned count, int *options, void **values)
{
    return call_current(__func__, [=](Device *device) {
        CUresult code = load(device, out, image);
        char *log = nullptr;
        std::size_t size = 0;
        for (unsigned n = 0; n < count; n++) {
            log = options[n] == 5 ? static_cast<char *>(values[n]) : log;
            size = options[n] == 6 ? reinterpret_cast<std::uintptr_t>(values[n]) : size;
        }
        if (log && size > 0 && code != SUCCESS)
            std::snprintf(log, size, "fake ptxas, line 1;\n fatal: code %d", code);
        return code;
    });
}

CALL(cuModuleUnload, CUmodule module)
{
    return call_current(__func__, [=](Device *) -> CUresult {
        if (state().modules.erase(module) == 0)
            return INVALID_HANDLE;
        return delete module, SUCCESS;
    });
}

CALL(cuModuleGetFunction, CUfunction *out, CUmodule module, const char *name)
{
    return call_current(__func__, [=](Device *device) -> CUresult {
        if (!state().modules.count(module) || module->device != device)
            return INVALID_HANDLE;
        std::unique_ptr<Function> &function = module->functions[name];
        if (!function) {
            std::shared_ptr<const Kernel> made = make_kernel(device, module->text, name);
            if (!made)
                return NOT_FOUND;
            if (module->text.find(".entry " + std::string(name) + "(") == std::string::npos) {
                complain(std::string("no kernel ") + name + " in the PTX");
                return NOT_FOUND;
            }
            std::vector<Parameter> parameters = parameters_of(module->text, name);
            if (bytes_of(parameters) != made->args_size) {
                complain(std::string(name) + " takes " + std::to_string(bytes_of(parameters)) + " bytes in the PTX, " +
                         std::to_string(made->args_size) + " in the shim");
                return INVALID_PTX;
            }
            function.reset(new Function{std::move(made), std::move(parameters), device});
        }
        return *out = function.get(), SUCCESS;
    });
}

CALL(cuFuncGetAttribute, int *value, int which, CUfunction function)
{
    return call_current(__func__, [=](Device *) {
        *value = which == 0   ? int(function->kernel->threads)
                 : which == 4 ? int(settings().registers)
                              : 0;
        return SUCCESS;
    });
}

CALL(cuFuncSetAttribute, CUfunction, int, int)
{
    return call_current(__func__, [](Device *) { return SUCCESS; });
}

CALL(cuFuncSetCacheConfig, CUfunction, int)
{
    return call_current(__func__, [](Device *) { return SUCCESS; });
}

CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor, int *blocks, CUfunction function, int threads,
     std::size_t)
{
    return call_current(__func__, [=](Device *) -> CUresult {
        if (threads <= 0)
            return INVALID_VALUE;
        return *blocks = resident(function, threads), SUCCESS;
    });
}

CALL(cuLaunchKernel, CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
     unsigned block_x, unsigned block_y, unsigned block_z, unsigned, CUstream stream,
     void **parameters, void **)
{
    const shim::Index grid{grid_x, grid_y, grid_z}, block{block_x, block_y, block_z};
    return call_current(__func__, [=](Device *device) {
        return launch(device, function, grid, block, false, stream, parameters);
    });
}

CALL(cuLaunchCooperativeKernel, CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
     unsigned block_x, unsigned block_y, unsigned block_z, unsigned, CUstream stream,
     void **parameters)
{
    const shim::Index grid{grid_x, grid_y, grid_z}, block{block_x, block_y, block_z};
    return call_current(__func__, [=](Device *device) {
        return launch(device, function, grid, block, true, stream, parameters);
    });
}
