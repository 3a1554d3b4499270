// Initialisation, devices and contexts.

#include <cstdio>
#include <cstring>

#include "calls.h"
#include "settings.h"

State &state()
{
    static State &kept = *new State;
    return kept;
}

Device *device_at(int ordinal)
{
    auto &devices = state().devices;
    return ordinal >= 0 && std::size_t(ordinal) < devices.size() ? devices[ordinal].get() : nullptr;
}

CALL(cuInit, unsigned flags)
{
    return call_any_time(__func__, [=]() -> CUresult {
        if (flags != 0)
            return INVALID_VALUE;
        if (settings().devices == 0)
            return NO_DEVICE;
        mark_initialized();
        for (int i = int(state().devices.size()); i < settings().devices; i++) {
            auto device = std::make_unique<Device>();
            const auto &names = settings().names;
            device->ordinal = i;
            device->name = std::size_t(i) < names.size() ? names[i] : "Fake " + std::to_string(i);
            state().devices.push_back(std::move(device));
        }
        return SUCCESS;
    });
}

CALL(cuDriverGetVersion, int *version)
{
    return call_any_time(__func__, [=] { return *version = settings().driver, SUCCESS; });
}

CALL(cuDeviceGetCount, int *count)
{
    return call(__func__, [=] { return *count = settings().devices, SUCCESS; });
}

CALL(cuDeviceGet, CUdevice *device, int ordinal)
{
    return call(__func__, [=]() -> CUresult {
        if (!device_at(ordinal))
            return INVALID_DEVICE;
        return *device = ordinal, SUCCESS;
    });
}

CALL(cuDeviceGetName, char *name, int length, CUdevice device)
{
    return call(__func__, device, [=] {
        std::snprintf(name, std::size_t(length), "%s", device_at(device)->name.c_str());
        return SUCCESS;
    });
}

static CUresult uuid(const char *name, unsigned char *bytes, CUdevice device)
{
    return call(name, device, [=] {
        std::memset(bytes, 0x42, 16);
        bytes[15] = static_cast<unsigned char>(device);
        return SUCCESS;
    });
}

CALL(cuDeviceGetUuid, unsigned char *bytes, CUdevice device)
{
    return uuid(__func__, bytes, device);
}

CALL(cuDeviceGetUuid_v2, unsigned char *bytes, CUdevice device)
{
    return uuid(__func__, bytes, device);
}

CALL(cuDeviceTotalMem_v2, std::size_t *bytes, CUdevice device)
{
    return call(__func__, device, [=] { return *bytes = settings().memory, SUCCESS; });
}

static int attribute(int which)
{
    switch (which) {
    case 1: case 2: case 3: return 1024;   // threads a block, and along x and y
    case 4: return 64;                     // along z
    case 5: return 0x7fffffff;             // blocks along x
    case 6: case 7: return 65535;          // along y and z
    case 8: return 48 * 1024;              // shared memory a block
    case 10: return 32;                    // warp
    case 12: case 82: return 65536;        // registers a block, a multiprocessor
    case 13: return settings().clock;
    case 16: return settings().multiprocessors;
    case 17: return settings().watchdog;
    case 19: return settings().maps;       // host memory
    case 39: return 2048;                  // threads a multiprocessor
    case 40: return 2;                     // copy engines
    case 41: return 1;                     // one address space
    case 75: return settings().major;
    case 76: return settings().minor;
    case 81: return 100 * 1024;            // shared memory a multiprocessor
    case 95: return settings().cooperates; // cooperative launches
    default: return 0;
    }
}

CALL(cuDeviceGetAttribute, int *value, int which, CUdevice device)
{
    return call(__func__, device, [=] { return *value = attribute(which), SUCCESS; });
}

CALL(cuDeviceCanAccessPeer, int *can, CUdevice device, CUdevice peer)
{
    return call(__func__, device, [=]() -> CUresult {
        if (!device_at(peer))
            return INVALID_DEVICE;
        return *can = 0, SUCCESS;
    });
}

CALL(cuDevicePrimaryCtxRetain, CUcontext *context, CUdevice device)
{
    return call(__func__, device, [=] {
        static unsigned long long contexts = 0;
        *context = device_at(device);
        (*context)->retained++;
        if ((*context)->context == 0)
            (*context)->context = ++contexts;
        return SUCCESS;
    });
}

// Everything that was made in the context goes with it.
static CUresult destroy(Device *device)
{
    CUresult code = drain(device);
    std::vector<std::uintptr_t> owned;
    for (const auto &[begin, allocation] : state().memory)
        if (allocation.owner == device && !allocation.freed)
            owned.push_back(begin);
    device->orphans += owned.size() + device->streams.size();
    for (std::uintptr_t begin : owned)
        release(device, begin);
    for (Stream *stream : device->streams)
        delete stream;
    device->streams.clear();
    unload(device);
    device->context = 0;
    return code;
}

CALL(cuDevicePrimaryCtxRelease_v2, CUdevice device)
{
    return call(__func__, device, [=]() -> CUresult {
        Device *released = device_at(device);
        if (released->retained == 0)
            return INVALID_CONTEXT;
        return --released->retained > 0 ? CUresult(SUCCESS) : destroy(released);
    });
}

CALL(cuDevicePrimaryCtxReset_v2, CUdevice device)
{
    return call(__func__, device, [=] { return destroy(device_at(device)); });
}

CALL(cuCtxGetId, CUcontext context, unsigned long long *number)
{
    return call(__func__, [=]() -> CUresult {
        if (!context || context->context == 0)
            return CONTEXT_IS_DESTROYED;
        return *number = context->context, SUCCESS;
    });
}

CALL(cuDevicePrimaryCtxSetFlags_v2, CUdevice device, unsigned)
{
    return call(__func__, device, [] { return SUCCESS; });
}

CALL(cuCtxSetCurrent, CUcontext context)
{
    return call(__func__, [=] { return set_current(context), SUCCESS; });
}

CALL(cuCtxGetCurrent, CUcontext *context)
{
    return call(__func__, [=] { return *context = current(), SUCCESS; });
}

static std::vector<Device *> &pushed()
{
    static thread_local std::vector<Device *> stack;
    return stack;
}

CALL(cuCtxPushCurrent_v2, CUcontext context)
{
    return call(__func__, [=]() -> CUresult {
        if (!context)
            return INVALID_CONTEXT;
        pushed().push_back(current());
        return set_current(context), SUCCESS;
    });
}

CALL(cuCtxPopCurrent_v2, CUcontext *context)
{
    return call(__func__, [=]() -> CUresult {
        if (pushed().empty())
            return INVALID_CONTEXT;
        if (context)
            *context = current();
        set_current(pushed().back());
        return pushed().pop_back(), SUCCESS;
    });
}

CALL(cuCtxGetDevice, CUdevice *device)
{
    return call_current(__func__, [=](Device *d) { return *device = d->ordinal, SUCCESS; });
}

CALL(cuCtxSynchronize)
{
    return call_current(__func__, [](Device *device) { return drain(device); });
}

CALL(cuCtxGetStreamPriorityRange, int *least, int *greatest)
{
    return call_current(__func__, [=](Device *) { return *least = *greatest = 0, SUCCESS; });
}

// These two cannot fail, and are no calls that a test would want to count.
extern "C" __attribute__((visibility("default"))) CUresult cuGetErrorName(CUresult code,
                                                                         const char **text)
{
    static thread_local char name[32];
    std::snprintf(name, sizeof name, "FAKE_ERROR_%d", code);
    *text = name;
    return SUCCESS;
}

extern "C" __attribute__((visibility("default"))) CUresult cuGetErrorString(CUresult code,
                                                                           const char **text)
{
    static thread_local char name[40];
    std::snprintf(name, sizeof name, "the fake driver says %d", code);
    *text = name;
    return SUCCESS;
}
