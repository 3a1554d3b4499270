// Reads the settings. A bad one ends the process: a test that misspells one must not pass.

#include "settings.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

extern char **environ;

namespace {

[[noreturn]] void bad(const std::string &name, const std::string &value)
{
    std::fprintf(stderr, "fake CUDA: %s=%s?\n", name.c_str(), value.c_str());
    std::abort();
}

std::vector<std::string> split(const std::string &text, char by)
{
    std::vector<std::string> parts;
    std::stringstream stream(text);
    for (std::string part; std::getline(stream, part, by);)
        parts.push_back(part);
    return parts;
}

unsigned long number(const std::string &name, const std::string &text)
{
    char *end;
    unsigned long value = std::strtoul(text.c_str(), &end, 10);
    if (text.empty() || *end)
        bad(name, text);
    return value;
}

// WHICH:CODE[:LASTING], where WHICH is a number, a name or NAME#NUMBER
Injection injection(const std::string &name, const std::string &text)
{
    std::vector<std::string> parts = split(text, ':');
    if (parts.size() < 2 || parts.size() > 3)
        bad(name, text);
    Injection made;
    std::vector<std::string> which = split(parts[0], '#');
    if (which.size() == 2)
        made.number = number(name, which[1]);
    if (std::strncmp(which[0].c_str(), "cu", 2) == 0)
        made.call = which[0];
    else
        made.number = number(name, which[0]);
    made.code = int(number(name, parts[1]));
    if (parts.size() == 3) {
        if (parts[2] == "device")
            made.lasting = Injection::device;
        else if (parts[2] == "all")
            made.lasting = Injection::all;
        else if (parts[2] != "once")
            bad(name, text);
    }
    return made;
}

void set(Settings &s, const std::string &name, const std::string &value)
{
    std::vector<std::string> parts;
    if (name == "DEVICES")
        s.devices = int(number(name, value));
    else if (name == "NAMES")
        s.names = split(value, ';');
    else if (name == "CAPABILITY") {
        parts = split(value, '.');
        if (parts.size() != 2)
            bad(name, value);
        s.major = int(number(name, parts[0]));
        s.minor = int(number(name, parts[1]));
    } else if (name == "MULTIPROCESSORS")
        s.multiprocessors = int(number(name, value));
    else if (name == "MEMORY")
        s.memory = number(name, value);
    else if (name == "DRIVER")
        s.driver = int(number(name, value));
    else if (name == "REGISTERS")
        s.registers = unsigned(number(name, value));
    else if (name == "FILL")
        s.fill = static_cast<unsigned char>(number(name, value));
    else if (name == "EXECUTION" && (value == "late" || value == "immediate"))
        s.late = value == "late";
    else if (name == "MAPS")
        s.maps = number(name, value) != 0;
    else if (name == "COOPERATES")
        s.cooperates = number(name, value) != 0;
    else if (name == "DELAY")
        s.delay = double(number(name, value)) * 1e-3;
    else if (name == "HANG")
        s.hang = number(name, value);
    else if (name == "CLOCK")
        s.clock = int(number(name, value));
    else if (name == "WATCHDOG")
        s.watchdog = number(name, value) != 0;
    else if (name == "ORDER" && value == "forward")
        s.order.kind = shim::Order::forward;
    else if (name == "ORDER" && value == "reverse")
        s.order.kind = shim::Order::reverse;
    else if (name == "ORDER") {
        s.order.kind = shim::Order::shuffled;
        s.order.seed = number(name, value);
    } else if (name == "ROOTS" && value == "exact")
        s.roots.kind = ptx::Roots::exact;
    else if (name == "ROOTS" && value == "high")
        s.roots.kind = ptx::Roots::high;
    else if (name == "ROOTS" && value == "low")
        s.roots.kind = ptx::Roots::low;
    else if (name == "ROOTS") {
        s.roots.kind = ptx::Roots::drawn;
        s.roots.seed = number(name, value);
    } else if (name == "MODULES")
        s.modules = value;
    else if (name == "FAIL") {
        for (const std::string &part : split(value, ','))
            s.injections.push_back(injection(name, part));
    } else if (name == "LOG")
        s.log = value;
    else if (name == "TRACE")
        s.trace = number(name, value) != 0;
    else if (name == "COUNT")
        s.count = number(name, value) != 0;
    else
        bad(name, value);
}

Settings read()
{
    const std::string prefix = "FAKE_CUDA_";
    Settings s;
    for (char **variable = environ; *variable; variable++) {
        std::string text = *variable;
        std::size_t equals = text.find('=');
        if (text.compare(0, prefix.size(), prefix) == 0 && equals != std::string::npos)
            set(s, text.substr(prefix.size(), equals - prefix.size()), text.substr(equals + 1));
    }
    if (s.count && s.order.kind == shim::Order::shuffled)
        bad("FAKE_CUDA_COUNT with threads in the order of the seed FAKE_CUDA_ORDER", std::to_string(s.order.seed));
    return s;
}

} // namespace

const Settings &settings()
{
    // Kept: the log is written after statics are gone.
    static const Settings &read_once = *new Settings(read());
    return read_once;
}
