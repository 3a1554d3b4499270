// The state of the fake driver: devices with their memory, streams with their queues.
#ifndef FAKE_CUDA_STATE_H
#define FAKE_CUDA_STATE_H

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cuda.h"
#include "launch.h"
#include "parameters.h"

namespace ptx {
class Region;
}

// Memory of a device, or pinned memory of the host (`owner` is null then).
struct Allocation {
    Device *owner;
    std::uintptr_t begin;
    std::size_t bytes;
    bool freed;
    bool mapped; // pinned memory that kernels may use
    mutable std::shared_ptr<ptx::Region> region = nullptr; // what kernels do there, once one did
};

struct Stream {
    Device *device;
    bool blocking; // orders itself with the stream 0
    std::deque<std::function<CUresult()>> queue;
    double ready = 0; // when the last kernel is done, in seconds
    bool hangs = false; // on a kernel that never ends
};

struct Event {
    Device *device;
    Stream *stream = nullptr; // on which the last record waits
    unsigned long recorded = 0, reached = 0;
    double time = 0;
};

// A kernel, compiled from its C++ source or interpreted from its PTX.
struct Kernel {
    std::string name;
    std::size_t args_size;
    unsigned threads; // the most that a block may have
    // Empty, or what went wrong. The blocks of a cooperative launch wait for each other.
    std::function<std::string(const void *args, shim::Index grid, shim::Index block, bool cooperative)> run;
};

struct Function {
    std::shared_ptr<const Kernel> kernel;
    std::vector<Parameter> parameters;
    Device *device;
};

struct Module {
    Device *device;
    std::string text;
    std::map<std::string, std::unique_ptr<Function>> functions;
};

// A device is its primary context too.
struct Device {
    int ordinal;
    std::string name;
    unsigned retained = 0;
    unsigned long long context = 0; // its number; another one after a reset
    std::size_t orphans = 0; // allocations and streams that were there when the context went
    int lost = 0; // the code that every call on it returns from now on
    std::size_t used = 0, most = 0;
    std::set<Stream *> streams;
    Stream zero{this, true, {}, 0, false};
};

struct State {
    std::vector<std::unique_ptr<Device>> devices;
    std::map<std::uintptr_t, Allocation> memory; // by first address, freed ones too
    std::size_t quarantine = 0;                  // bytes of freed ones
    std::set<Event *> events;
    std::set<Module *> modules;
    int lost = 0; // all devices
};

// Kept for the life of the process: clients free things while it ends.
State &state();
Device *current();
Device *device_at(int ordinal);

// Something that a correct client does not do; one line of the log.
void complain(const std::string &what);

// memory.cc
CUresult allocate(Device *owner, std::size_t bytes, void **out, bool mapped = false);
CUresult release(Device *owner, std::uintptr_t begin);
// The allocation that holds all of the range, live or freed; null if none does.
const Allocation *holding(std::uintptr_t begin, std::size_t bytes);
// Whether any allocation has a part of the range.
bool touches(std::uintptr_t begin, std::size_t bytes);
// Complains about writes around allocations.
CUresult check_zones();

// modules.cc
// Forgets the modules of a device.
void unload(Device *device);

// streams.cc
// The stream behind a handle; null if there is none.
Stream *find_stream(CUstream handle);
CUresult enqueue(Stream *stream, std::function<CUresult()> work);
// The same for a kernel, which takes as long as the settings say.
CUresult enqueue_kernel(Stream *stream, std::function<CUresult()> work);
bool hangs(const Device *device);
CUresult drain(Stream *stream);
CUresult drain(Device *device);

#endif
