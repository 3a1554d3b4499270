// What every entry point goes through: one at a time, counted, logged, made to fail when asked.
#ifndef FAKE_CUDA_CALLS_H
#define FAKE_CUDA_CALLS_H

#include <functional>

#include "state.h"

#define CALL(name, ...) extern "C" __attribute__((visibility("default"))) CUresult name(__VA_ARGS__)

typedef std::function<CUresult()> Body;

// A call that concerns no device, or the device of that number.
CUresult call(const char *name, const Body &body);
CUresult call(const char *name, CUdevice device, const Body &body);
// A call that needs a current context.
CUresult call_current(const char *name, const std::function<CUresult(Device *)> &body);
// As the first form, before cuInit.
CUresult call_any_time(const char *name, const Body &body);

// Something about the call that is under way, for the log.
void note(const std::string &what);

// Adds to what the log counts besides calls.
void count(const std::string &what, unsigned long number);

void set_current(Device *device);
void mark_initialized();

#endif
