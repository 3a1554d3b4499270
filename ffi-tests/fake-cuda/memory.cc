// Memory of devices and pinned memory. Guard zones around each allocation are checked, fresh
// memory is filled with what the settings say, freed memory is spoilt and kept for a while.

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "calls.h"
#include "settings.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace {

constexpr std::size_t zone = 256, most_quarantine = std::size_t(64) << 20;
constexpr unsigned char zone_byte = 0xfb, freed_byte = 0xdd;

unsigned char *bytes_at(std::uintptr_t address)
{
    return reinterpret_cast<unsigned char *>(address);
}

// The whole piece of host memory behind an allocation.
std::size_t whole(std::size_t bytes) { return zone + (bytes + zone - 1) / zone * zone + zone; }

std::string show(const Allocation &a)
{
    return (a.owner ? "device " + std::to_string(a.owner->ordinal) : std::string("pinned")) +
           " allocation of " + std::to_string(a.bytes) + " bytes";
}

#ifdef __SANITIZE_ADDRESS__
// The sanitizer watches the zones, reads included.
void guard(const Allocation &a)
{
    ASAN_POISON_MEMORY_REGION(bytes_at(a.begin) - zone, zone);
    ASAN_POISON_MEMORY_REGION(bytes_at(a.begin) + a.bytes, whole(a.bytes) - zone - a.bytes);
}

bool intact(const Allocation &) { return true; }

void give_back(const Allocation &a)
{
    ASAN_UNPOISON_MEMORY_REGION(bytes_at(a.begin) - zone, whole(a.bytes));
    std::free(bytes_at(a.begin) - zone);
}
#else
void guard(const Allocation &a)
{
    std::memset(bytes_at(a.begin) - zone, zone_byte, zone);
    std::memset(bytes_at(a.begin) + a.bytes, zone_byte, whole(a.bytes) - zone - a.bytes);
}

bool intact(const Allocation &a)
{
    auto is_zone = [](const unsigned char *p, std::size_t n) {
        return n == 0 || (p[0] == zone_byte && std::memcmp(p, p + 1, n - 1) == 0);
    };
    return is_zone(bytes_at(a.begin) - zone, zone) &&
           is_zone(bytes_at(a.begin) + a.bytes, whole(a.bytes) - zone - a.bytes);
}

void give_back(const Allocation &a) { std::free(bytes_at(a.begin) - zone); }
#endif

void empty_quarantine()
{
    auto &memory = state().memory;
    for (auto at = memory.begin(); at != memory.end() && state().quarantine > most_quarantine;) {
        if (!at->second.freed) {
            ++at;
            continue;
        }
        state().quarantine -= at->second.bytes;
        give_back(at->second);
        at = memory.erase(at);
    }
}

const Allocation *at_or_before(std::uintptr_t address)
{
    auto &memory = state().memory;
    auto after = memory.upper_bound(address);
    return after == memory.begin() ? nullptr : &std::prev(after)->second;
}

CUresult sized(std::size_t bytes, const std::function<CUresult()> &body)
{
    return bytes == 0 ? CUresult(INVALID_VALUE) : body();
}

} // namespace

CUresult allocate(Device *owner, std::size_t bytes, void **out, bool mapped)
{
    if (owner && bytes > settings().memory - owner->used)
        return OUT_OF_MEMORY;
    void *memory = std::aligned_alloc(zone, whole(bytes));
    if (!memory)
        return OUT_OF_MEMORY;
    unsigned char *begin = static_cast<unsigned char *>(memory) + zone;
    std::memset(begin, settings().fill, bytes);
    auto key = reinterpret_cast<std::uintptr_t>(begin);
    Allocation made{owner, key, bytes, false, mapped};
    guard(made);
    state().memory[key] = made;
    if (owner) {
        owner->used += bytes;
        owner->most = std::max(owner->most, owner->used);
    }
    *out = begin;
    return SUCCESS;
}

CUresult release(Device *owner, std::uintptr_t begin)
{
    auto at = state().memory.find(begin);
    if (at == state().memory.end() || at->second.freed || !at->second.owner != !owner) {
        complain("something is freed that is not allocated");
        return INVALID_VALUE;
    }
    Allocation &a = at->second;
    if (a.owner != owner) {
        complain(show(a) + " is freed in another device's context");
        return INVALID_VALUE;
    }
    if (!intact(a))
        complain(show(a) + ": somebody wrote beside it");
    std::memset(bytes_at(begin), freed_byte, a.bytes);
#ifdef __SANITIZE_ADDRESS__
    ASAN_POISON_MEMORY_REGION(bytes_at(begin), a.bytes);
#endif
    a.freed = true;
    if (owner)
        owner->used -= a.bytes;
    state().quarantine += a.bytes;
    empty_quarantine();
    return SUCCESS;
}

const Allocation *holding(std::uintptr_t begin, std::size_t bytes)
{
    const Allocation *a = at_or_before(begin);
    return a && begin - a->begin < a->bytes && bytes <= a->bytes - (begin - a->begin) ? a : nullptr;
}

bool touches(std::uintptr_t begin, std::size_t bytes)
{
    const Allocation *a = bytes ? at_or_before(begin + bytes - 1) : nullptr;
    return a && begin < a->begin + a->bytes;
}

CUresult check_zones()
{
    CUresult code = SUCCESS;
    for (auto &[begin, allocation] : state().memory)
        if (!allocation.freed && !intact(allocation)) {
            complain(show(allocation) + ": somebody wrote beside it");
            guard(allocation);
            code = ILLEGAL_ADDRESS;
        }
    return code;
}

CALL(cuMemAlloc_v2, CUdeviceptr *out, std::size_t bytes)
{
    return call_current(__func__, [=](Device *device) {
        return sized(bytes, [=] { return allocate(device, bytes, reinterpret_cast<void **>(out)); });
    });
}

CALL(cuMemFree_v2, CUdeviceptr begin)
{
    return call_current(__func__, [=](Device *device) {
        if (begin == 0)
            return CUresult(SUCCESS);
        // The real one waits for the device too.
        CUresult code = drain(device);
        return code ? code : release(device, begin);
    });
}

CALL(cuMemGetInfo_v2, std::size_t *free, std::size_t *total)
{
    return call_current(__func__, [=](Device *device) {
        *total = settings().memory;
        *free = *total - device->used;
        return SUCCESS;
    });
}

CALL(cuMemHostAlloc, void **out, std::size_t bytes, unsigned flags)
{
    return call_current(__func__, [=](Device *) {
        bool mapped = (flags & 2) != 0;
        if (mapped && !settings().maps)
            complain("memory is mapped on a device that cannot");
        return sized(bytes, [=] { return allocate(nullptr, bytes, out, mapped); });
    });
}

CALL(cuMemAllocHost_v2, void **out, std::size_t bytes)
{
    return call_current(__func__, [=](Device *) {
        return sized(bytes, [=] { return allocate(nullptr, bytes, out); });
    });
}

CALL(cuMemFreeHost, void *begin)
{
    return call_current(__func__, [=](Device *) {
        // Queued copies of any device may use it, of which one that hangs makes no more.
        for (auto &device : state().devices)
            if (!hangs(device.get()))
                drain(device.get());
        return release(nullptr, reinterpret_cast<std::uintptr_t>(begin));
    });
}

CALL(cuMemHostGetDevicePointer_v2, CUdeviceptr *out, void *host, unsigned)
{
    return call_current(__func__, [=](Device *) -> CUresult {
        const Allocation *a = holding(reinterpret_cast<std::uintptr_t>(host), 1);
        if (!a || a->owner || a->freed || !a->mapped || !settings().maps) {
            complain("the device's address of memory that is not mapped");
            return INVALID_VALUE;
        }
        return *out = reinterpret_cast<CUdeviceptr>(host), SUCCESS;
    });
}
