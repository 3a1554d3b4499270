// Loaded before a client: what it opens under /usr/lib/wsl/lib lies in the folder WSL_FOLDER.
#include <cstdlib>
#include <cstring>
#include <string>

#include <dlfcn.h>

extern "C" __attribute__((visibility("default"))) void *dlopen(const char *name, int flags) noexcept
{
    static const auto next = reinterpret_cast<void *(*)(const char *, int)>(dlsym(RTLD_NEXT, "dlopen"));
    static const char place[] = "/usr/lib/wsl/lib";
    const char *folder = std::getenv("WSL_FOLDER");
    if (!name || !folder || std::strncmp(name, place, sizeof place - 1) != 0)
        return next(name, flags);
    return next((folder + std::string(name + sizeof place - 1)).c_str(), flags);
}
