// Launches a toy kernel without a driver, on plain memory, for the sanitizers: `direct NAME [BY]`.

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "launch.h"

struct Args {
    int *to;
    const int *from;
    unsigned n, by;
};

int main(int argc, char **argv)
{
    const unsigned blocks = 3, threads = 64, count = blocks * threads;
    const shim::Kernel *kernel = argc > 1 ? shim::find(argv[1]) : nullptr;
    if (!kernel)
        return 9;
    std::vector<int> to(count), from(count);
    for (unsigned i = 0; i < count; i++)
        from[i] = int(i);
    Args args{to.data(), from.data(), count, argc > 2 ? unsigned(std::atoi(argv[2])) : 0};
    std::string wrong = shim::launch(*kernel, &args, {blocks, 1, 1}, {threads, 1, 1}, {});
    std::printf("%s\n", wrong.c_str());
    for (int number : to)
        std::printf("%d ", number);
    std::printf("\n");
    return 0;
}
