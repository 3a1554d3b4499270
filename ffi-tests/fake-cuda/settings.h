// What the fake driver is told by environment variables; README.md lists them.
#ifndef FAKE_CUDA_SETTINGS_H
#define FAKE_CUDA_SETTINGS_H

#include <string>
#include <vector>

#include "launch.h"
#include "ptx/roots.h"

// A failure that is asked for.
struct Injection {
    enum Lasting { once, device, all };
    std::string call;         // its name; empty: any call
    unsigned long number = 0; // which of them, from 1; 0: every one
    int code = 0;
    Lasting lasting = once;
};

struct Settings {
    int devices = 1;
    std::vector<std::string> names;
    int major = 8, minor = 0;
    int multiprocessors = 4;
    std::size_t memory = std::size_t(1) << 30;
    int driver = 12020;
    unsigned registers = 64;
    unsigned char fill = 0xff;
    bool late = true;
    bool maps = true;
    bool cooperates = true;
    double delay = 0; // seconds
    unsigned long hang = 0; // number of the launch that never ends
    int clock = 1000000; // kHz
    bool watchdog = false;
    shim::Order order;
    ptx::Roots roots;
    std::string modules; // folder of PTX that stands in for what is loaded
    std::vector<Injection> injections;
    std::string log;
    bool trace = false;
    bool count = false; // instructions
};

const Settings &settings();

#endif
