// A CUDA driver that does nothing: every call succeeds at once, kernels and copies do not happen, memory of the device is
// an address without memory. So the time of a client is the time of its own work on the host. README.md lists the settings.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>

#define CALL(name, ...) extern "C" __attribute__((visibility("default"))) int name(__VA_ARGS__)

namespace {

constexpr int success = 0, not_ready = 600;

double setting(const char *name, double otherwise)
{
    const char *text = std::getenv(name);
    return text ? std::atof(text) : otherwise;
}

// Seconds that every kernel or copy takes, and the way to the device and back.
const double operation = setting("IDLE_CUDA_OPERATION", 0) * 1e-6, way = setting("IDLE_CUDA_WAY", 0) * 1e-6;
// Seconds of a pair in the kernels of forces, and of a byte in copies.
const double pair = setting("IDLE_CUDA_PAIR", 0) * 1e-12, byte = setting("IDLE_CUDA_BYTE", 0) * 1e-12;
const bool takes_time = operation + way + pair + byte > 0;
const bool maps = setting("IDLE_CUDA_MAPS", 1) != 0;

// Kernels, copies, bytes to the device, bytes from there, waits, so far.
std::uint64_t counts[5];

double now()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

double ready = 0;

// An operation that takes so many seconds beside those of every operation.
void queue(double more)
{
    if (takes_time) {
        double begin = now();
        ready = (ready > begin ? ready : begin + way) + operation + more;
    }
}

bool is_passed(double time) { return counts[4]++, !takes_time || now() >= time; }

// Stands for each kernel of forces.
int force;

// The pairs of such a kernel, from its arguments (kernels/layout.cuh: ForceArgs, with which StepArgs begins).
double pairs(void **parameters)
{
    unsigned ni, pages;
    const char *args = static_cast<const char *>(parameters[0]);
    std::memcpy(&ni, args + 240, sizeof ni);
    std::memcpy(&pages, args + 244, sizeof pages);
    return 512.0 * ni * pages;
}

int attribute(int which)
{
    switch (which) {
    case 13: return 1980000; // kHz
    case 16: return 132;     // multiprocessors
    case 19: return maps;    // kernels use memory of the host
    case 75: return 9;       // compute capability
    default: return 0;
    }
}

} // namespace

// For the client that measures.
CALL(idle_cuda_counts, std::uint64_t *out) { return std::memcpy(out, counts, sizeof counts), success; }

CALL(cuInit, unsigned) { return success; }
CALL(cuDriverGetVersion, int *version) { return *version = 12040, success; }
CALL(cuGetErrorName, int, const char **name) { return *name = "an error", success; }
CALL(cuDeviceGetCount, int *count) { return *count = 1, success; }
CALL(cuDeviceGet, int *device, int ordinal) { return *device = ordinal, success; }
CALL(cuDeviceGetName, char *name, int length, int) { return std::strncpy(name, "idle", std::size_t(length)), success; }
CALL(cuDeviceTotalMem_v2, std::size_t *bytes, int) { return *bytes = std::size_t(80) << 30, success; }
CALL(cuDeviceGetAttribute, int *value, int which, int) { return *value = attribute(which), success; }
CALL(cuDevicePrimaryCtxRetain, void **context, int) { return *context = counts, success; }
CALL(cuDevicePrimaryCtxRelease_v2, int) { return success; }
CALL(cuCtxGetId, void *, unsigned long long *number) { return *number = 1, success; }
CALL(cuCtxPushCurrent_v2, void *) { return success; }
CALL(cuCtxPopCurrent_v2, void **context) { return *context = counts, success; }
CALL(cuStreamCreate, void **stream, unsigned) { return *stream = counts, success; }
CALL(cuStreamDestroy_v2, void *) { return success; }
CALL(cuStreamQuery, void *) { return is_passed(ready) ? success : not_ready; }

// An event is the time at which the device passes it.
CALL(cuEventCreate, double **event, unsigned) { return *event = new double(0), success; }
CALL(cuEventRecord, double *event, void *) { return *event = ready, success; }
CALL(cuEventQuery, const double *event) { return is_passed(*event) ? success : not_ready; }
CALL(cuEventDestroy_v2, double *event) { return delete event, success; }

CALL(cuMemAlloc_v2, std::uint64_t *out, std::size_t bytes)
{
    static std::uint64_t next = std::uint64_t(1) << 50;
    *out = next;
    next += (bytes + 4095) / 4096 * 4096;
    return success;
}

CALL(cuMemFree_v2, std::uint64_t) { return success; }

CALL(cuMemHostAlloc, void **out, std::size_t bytes, unsigned)
{
    *out = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    return *out ? success : 2;
}

CALL(cuMemHostGetDevicePointer_v2, std::uint64_t *out, void *host, unsigned)
{
    return *out = reinterpret_cast<std::uint64_t>(host), success;
}

CALL(cuMemFreeHost, void *memory) { return std::free(memory), success; }

CALL(cuMemcpyHtoDAsync_v2, std::uint64_t, const void *, std::size_t bytes, void *)
{
    return queue(byte * double(bytes)), counts[1]++, counts[2] += bytes, success;
}

CALL(cuMemcpyDtoHAsync_v2, void *, std::uint64_t, std::size_t bytes, void *)
{
    return queue(byte * double(bytes)), counts[1]++, counts[3] += bytes, success;
}

CALL(cuMemsetD8Async, std::uint64_t, unsigned char, std::size_t, void *) { return success; }
CALL(cuModuleLoadDataEx, void **module, const void *, unsigned, int *, void **) { return *module = counts, success; }

CALL(cuModuleGetFunction, void **function, void *, const char *name)
{
    bool is_force = std::strncmp(name, "force_", 6) == 0 || std::strncmp(name, "step_", 5) == 0;
    return *function = is_force ? static_cast<void *>(&force) : counts, success;
}

CALL(cuFuncGetAttribute, int *value, int, void *) { return *value = 1024, success; }
CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor, int *blocks, void *, int, std::size_t) { return *blocks = 1, success; }

CALL(cuLaunchKernel, void *function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
     void **parameters, void **)
{
    return queue(function == &force ? pair * pairs(parameters) : 0), counts[0]++, success;
}

CALL(cuLaunchCooperativeKernel, void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **)
{
    return queue(0), counts[0]++, success;
}
