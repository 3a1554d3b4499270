// Counting, failing and logging of calls.

#include "calls.h"

#include <cstdio>
#include <map>
#include <mutex>

#include <unistd.h>

#include "settings.h"

namespace {

// Of one process: a child begins with an empty one but keeps its parent's driver, which refuses.
struct Record {
    unsigned long total = 0;
    std::map<std::string, unsigned long> counts;
    std::vector<std::string> complaints, trace;
    std::string note; // about the present call
    pid_t initialized = 0;
};

Record &record()
{
    static Record &kept = *new Record;
    return kept;
}

std::recursive_mutex &gate()
{
    static std::recursive_mutex &kept = *new std::recursive_mutex;
    return kept;
}

thread_local Device *current_device;

// The code that this call returns instead of doing anything; 0 if it is to go on.
int injected(const std::string &name, Device *device)
{
    for (const Injection &i : settings().injections) {
        unsigned long count = i.call.empty() ? record().total : record().counts[name];
        if ((!i.call.empty() && i.call != name) || (i.number != 0 && i.number != count))
            continue;
        if (i.lasting == Injection::all)
            state().lost = i.code;
        if (i.lasting == Injection::device && device)
            device->lost = i.code;
        return i.code;
    }
    if (state().lost)
        return state().lost;
    return device ? device->lost : 0;
}

CUresult enter(const char *name, Device *device, bool before_init, const Body &body)
{
    std::lock_guard<std::recursive_mutex> lock(gate());
    Record &r = record();
    r.total++;
    r.counts[name]++;
    r.note.clear();
    CUresult code = injected(name, device);
    if (code == 0 && !before_init && r.initialized != getpid())
        code = NOT_INITIALIZED;
    if (code == 0)
        code = body();
    if (settings().trace)
        r.trace.push_back(std::to_string(r.total) + " " + name + " " +
                          (device ? std::to_string(device->ordinal) : "-") + " " +
                          std::to_string(code) + (r.note.empty() ? "" : " " + r.note));
    return code;
}

// What nobody has given back, and what went with a context that was destroyed.
void write_left(std::FILE *file)
{
    for (const auto &device : state().devices)
        std::fprintf(file, "left device %d bytes %zu streams %zu before %zu\n", device->ordinal,
                     device->used, device->streams.size(), device->orphans);
    std::size_t pinned = 0;
    for (const auto &[begin, allocation] : state().memory)
        if (!allocation.owner && !allocation.freed)
            pinned += allocation.bytes;
    std::fprintf(file, "left pinned - bytes %zu events %zu\n", pinned, state().events.size());
}

void write_log()
{
    Record &r = record();
    // A child that a client forked has nothing to say.
    if (settings().log.empty() || (r.initialized && r.initialized != getpid()))
        return;
    std::FILE *file = std::fopen(settings().log.c_str(), "w");
    if (!file)
        return;
    for (const std::string &line : r.trace)
        std::fprintf(file, "call %s\n", line.c_str());
    for (const auto &[name, count] : r.counts)
        std::fprintf(file, "count %s %lu\n", name.c_str(), count);
    std::fprintf(file, "total %lu\n", r.total);
    for (const auto &device : state().devices)
        std::fprintf(file, "device %d used %zu most %zu streams %zu\n", device->ordinal,
                     device->used, device->most, device->streams.size());
    write_left(file);
    for (const std::string &line : r.complaints)
        std::fprintf(file, "complaint %s\n", line.c_str());
    std::fclose(file);
}

struct AtExit {
    ~AtExit()
    {
        check_zones();
        write_log();
    }
} at_exit;

} // namespace

Device *current() { return current_device; }
void set_current(Device *device) { current_device = device; }
void mark_initialized() { record().initialized = getpid(); }

void note(const std::string &what) { record().note = what; }
void count(const std::string &what, unsigned long number) { record().counts[what] += number; }

void complain(const std::string &what)
{
    record().complaints.push_back("at call " + std::to_string(record().total) + ": " + what);
}

CUresult call_any_time(const char *name, const Body &body)
{
    return enter(name, nullptr, true, body);
}

CUresult call(const char *name, const Body &body) { return enter(name, nullptr, false, body); }

CUresult call(const char *name, CUdevice device, const Body &body)
{
    return enter(name, device_at(device), false, [&] {
        return device_at(device) ? body() : CUresult(INVALID_DEVICE);
    });
}

CUresult call_current(const char *name, const std::function<CUresult(Device *)> &body)
{
    Device *device = current();
    return enter(name, device, false, [&]() -> CUresult {
        if (!device)
            return INVALID_CONTEXT;
        return device->context ? body(device) : CUresult(CONTEXT_IS_DESTROYED);
    });
}
