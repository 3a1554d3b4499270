// Streams and events. In late execution what is queued happens when somebody waits for it.

#include <algorithm>
#include <chrono>
#include <thread>

#include "calls.h"
#include "settings.h"

static CUresult step(Stream *stream)
{
    std::function<CUresult()> work = std::move(stream->queue.front());
    stream->queue.pop_front();
    CUresult code = work();
    if (code != SUCCESS) {
        // As on a real device: nothing works there any more.
        stream->device->lost = code;
        stream->queue.clear();
    }
    return code;
}

bool hangs(const Device *device)
{
    auto hang = [](const Stream *stream) { return stream->hangs; };
    return std::any_of(device->streams.begin(), device->streams.end(), hang);
}

// A stream at which a kernel never ends holds up whoever waits for it.
static void hang(const Stream *stream)
{
    while (stream->hangs)
        std::this_thread::sleep_for(std::chrono::hours(1));
}

CUresult drain(Stream *stream)
{
    hang(stream);
    while (!stream->queue.empty())
        if (CUresult code = step(stream))
            return code;
    return SUCCESS;
}

CUresult drain(Device *device)
{
    CUresult code = drain(&device->zero);
    for (Stream *stream : device->streams)
        if (CUresult failed = drain(stream))
            code = failed;
    return code;
}

Stream *find_stream(CUstream handle)
{
    Device *device = current();
    // 0, and the two special handles that stand for stream 0.
    if (reinterpret_cast<std::uintptr_t>(handle) <= 2)
        return device ? &device->zero : nullptr;
    for (auto &d : state().devices)
        if (d->streams.count(handle))
            return handle;
    complain("a stream is used that is not there");
    return nullptr;
}

CUresult enqueue(Stream *stream, std::function<CUresult()> work)
{
    if (stream->device != current()) {
        complain("a stream is used in another device's context");
        return INVALID_HANDLE;
    }
    // Stream 0 and the blocking ones wait for each other.
    if (stream == &stream->device->zero) {
        for (Stream *other : stream->device->streams)
            if (other->blocking)
                if (CUresult code = drain(other))
                    return code;
    } else if (stream->blocking) {
        if (CUresult code = drain(&stream->device->zero))
            return code;
    }
    stream->queue.push_back(std::move(work));
    return settings().late ? CUresult(SUCCESS) : drain(stream);
}

static double now()
{
    auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(since).count();
}

CUresult enqueue_kernel(Stream *stream, std::function<CUresult()> work)
{
    static unsigned long launches = 0;
    stream->hangs |= ++launches == settings().hang;
    if (settings().delay == 0)
        return enqueue(stream, std::move(work));
    // Time passes on the device while the host does something else.
    double ready = std::max(now(), stream->ready) + settings().delay;
    stream->ready = ready;
    return enqueue(stream, [=] {
        std::this_thread::sleep_for(std::chrono::duration<double>(ready - now()));
        return work();
    });
}

static CUresult create(Device *device, CUstream *out, unsigned flags)
{
    *out = new Stream{device, (flags & 1) == 0, {}, 0, false};
    device->streams.insert(*out);
    return SUCCESS;
}

CALL(cuStreamCreate, CUstream *out, unsigned flags)
{
    return call_current(__func__, [=](Device *device) { return create(device, out, flags); });
}

CALL(cuStreamCreateWithPriority, CUstream *out, unsigned flags, int)
{
    return call_current(__func__, [=](Device *device) { return create(device, out, flags); });
}

static CUresult with(CUstream handle, const std::function<CUresult(Stream *)> &body)
{
    Stream *stream = find_stream(handle);
    return stream ? body(stream) : CUresult(INVALID_HANDLE);
}

CALL(cuStreamDestroy_v2, CUstream handle)
{
    return call_current(__func__, [=](Device *) {
        return with(handle, [](Stream *stream) -> CUresult {
            if (stream == &stream->device->zero)
                return INVALID_HANDLE;
            CUresult code = drain(stream);
            stream->device->streams.erase(stream);
            delete stream;
            return code;
        });
    });
}

CALL(cuStreamSynchronize, CUstream handle)
{
    return call_current(__func__, [=](Device *) {
        return with(handle, [](Stream *stream) { return drain(stream); });
    });
}

// What is not held up by the time that kernels take has happened by the time of the question.
CALL(cuStreamQuery, CUstream handle)
{
    return call_current(__func__, [=](Device *) {
        return with(handle, [](Stream *stream) -> CUresult {
            return stream->hangs || stream->ready > now() ? CUresult(NOT_READY) : drain(stream);
        });
    });
}

static CUresult with(CUevent event, const std::function<CUresult()> &body)
{
    if (state().events.count(event))
        return body();
    complain("an event is used that is not there");
    return INVALID_HANDLE;
}

// Lets everything happen that stands before the event.
static CUresult reach(CUevent event)
{
    while (event->reached < event->recorded)
        if (event->stream->queue.empty())
            return LAUNCH_FAILED;
        else if (CUresult code = step(event->stream))
            return code;
    return SUCCESS;
}

CALL(cuEventCreate, CUevent *out, unsigned)
{
    return call_current(__func__, [=](Device *device) {
        *out = new Event;
        (*out)->device = device;
        state().events.insert(*out);
        return SUCCESS;
    });
}

CALL(cuEventDestroy_v2, CUevent event)
{
    return call_current(__func__, [=](Device *) {
        return with(event, [=] {
            CUresult code = reach(event);
            state().events.erase(event);
            delete event;
            return code;
        });
    });
}

CALL(cuEventRecord, CUevent event, CUstream handle)
{
    return call_current(__func__, [=](Device *) {
        return with(event, [=] {
            return with(handle, [=](Stream *stream) {
                event->stream = stream;
                unsigned long number = ++event->recorded;
                return enqueue(stream, [=] {
                    auto now = std::chrono::steady_clock::now().time_since_epoch();
                    event->time = std::chrono::duration<double, std::milli>(now).count();
                    event->reached = number;
                    return SUCCESS;
                });
            });
        });
    });
}

CALL(cuEventSynchronize, CUevent event)
{
    return call_current(__func__, [=](Device *) { return with(event, [=] { return reach(event); }); });
}

CALL(cuEventQuery, CUevent event)
{
    return call_current(__func__, [=](Device *) {
        return with(event, [=]() -> CUresult {
            if (event->reached == event->recorded)
                return SUCCESS;
            if (event->stream->hangs)
                return NOT_READY;
            CUresult code = event->stream->queue.empty() ? CUresult(LAUNCH_FAILED)
                                                         : step(event->stream);
            return code ? code : CUresult(NOT_READY);
        });
    });
}

CALL(cuStreamWaitEvent, CUstream handle, CUevent event, unsigned)
{
    return call_current(__func__, [=](Device *) {
        return with(event, [=] {
            return with(handle, [=](Stream *stream) {
                return enqueue(stream, [=] { return reach(event); });
            });
        });
    });
}

static CUresult elapsed(const char *name, float *milliseconds, CUevent begin, CUevent end)
{
    return call_current(name, [=](Device *) {
        return with(begin, [=] {
            return with(end, [=]() -> CUresult {
                if (begin->reached < begin->recorded || end->reached < end->recorded)
                    return NOT_READY;
                return *milliseconds = float(end->time - begin->time), SUCCESS;
            });
        });
    });
}

CALL(cuEventElapsedTime, float *milliseconds, CUevent begin, CUevent end)
{
    return elapsed(__func__, milliseconds, begin, end);
}

CALL(cuEventElapsedTime_v2, float *milliseconds, CUevent begin, CUevent end)
{
    return elapsed(__func__, milliseconds, begin, end);
}
