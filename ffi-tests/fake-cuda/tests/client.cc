// A client of the fake driver. Prints what a test asks for: `client NAME [NUMBER]`.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "../cuda.h"

extern "C" {
CUresult cuInit(unsigned);
CUresult cuDeviceGetCount(int *);
CUresult cuDevicePrimaryCtxRetain(CUcontext *, CUdevice);
CUresult cuCtxSetCurrent(CUcontext);
CUresult cuMemAlloc_v2(CUdeviceptr *, std::size_t);
CUresult cuMemFree_v2(CUdeviceptr);
CUresult cuMemHostAlloc(void **, std::size_t, unsigned);
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *, void *, unsigned);
CUresult cuMemcpyHtoD_v2(CUdeviceptr, const void *, std::size_t);
CUresult cuMemcpyDtoH_v2(void *, CUdeviceptr, std::size_t);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr, const void *, std::size_t, CUstream);
CUresult cuStreamCreate(CUstream *, unsigned);
CUresult cuStreamSynchronize(CUstream);
CUresult cuStreamQuery(CUstream);
CUresult cuModuleLoadData(CUmodule *, const void *);
CUresult cuModuleGetFunction(CUfunction *, CUmodule, const char *);
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        unsigned, CUstream, void **, void **);
CUresult cuLaunchCooperativeKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                   unsigned, CUstream, void **);
}

struct Args {
    CUdeviceptr to, from;
    unsigned n, by;
};

static const int blocks = 4, threads = 64, count = blocks * threads;
static CUcontext context;
static CUstream stream;
static CUdeviceptr to, from;

static void must(CUresult code)
{
    if (code != SUCCESS) {
        std::printf("failed %d\n", code);
        std::exit(0);
    }
}

// A text that says which kernel there is and no more, for the shim; or the one in the file that PTX names.
static std::string ptx(const char *name, std::size_t bytes)
{
    if (const char *path = std::getenv("PTX")) {
        std::ifstream file(path);
        return std::string(std::istreambuf_iterator<char>(file), {});
    }
    std::string kernel = name;
    return ".version 7.0\n.target sm_60\n.address_size 64\n.visible .entry " + kernel +
           "(\n\t.param .align 8 .b8 " + kernel + "_param_0[" + std::to_string(bytes) + "]\n)\n";
}

static CUresult find(CUfunction *function, const char *name, std::size_t bytes = sizeof(Args))
{
    CUmodule module;
    must(cuModuleLoadData(&module, ptx(name, bytes).c_str()));
    return cuModuleGetFunction(function, module, name);
}

static void begin(int device)
{
    std::vector<int> numbers(count);
    for (int i = 0; i < count; i++)
        numbers[i] = i;
    must(cuInit(0));
    must(cuDevicePrimaryCtxRetain(&context, device));
    must(cuCtxSetCurrent(context));
    must(cuStreamCreate(&stream, 1));
    must(cuMemAlloc_v2(&to, count * sizeof(int)));
    must(cuMemAlloc_v2(&from, count * sizeof(int)));
    must(cuMemcpyHtoD_v2(from, numbers.data(), count * sizeof(int)));
}

static CUresult run(const char *name, unsigned n, unsigned by, int grid = blocks)
{
    CUfunction function;
    must(find(&function, name));
    Args args{to, from, n, by};
    // Kernels take them as one structure, or one by one.
    void *parameters[] = {&args, &args.from, &args.n, &args.by};
    CUresult code = cuLaunchKernel(function, grid, 1, 1, threads, 1, 1, 0, stream, parameters, nullptr);
    // What the caller does with its arguments afterwards must not matter.
    std::memset(&args, 0, sizeof args);
    return code ? code : cuStreamSynchronize(stream);
}

static void print(int n)
{
    std::vector<int> numbers(n);
    must(cuMemcpyDtoH_v2(numbers.data(), to, n * sizeof(int)));
    for (int i = 0; i < n; i++)
        std::printf("%d%c", numbers[i], i + 1 < n ? ' ' : '\n');
}

int main(int argc, char **argv)
{
    std::string what = argc > 1 ? argv[1] : "";
    unsigned by = argc > 2 ? unsigned(std::atoi(argv[2])) : 0;
    begin(0);
    if (what == "sum") {
        std::vector<int> zero(1);
        must(cuMemcpyHtoD_v2(to, zero.data(), sizeof(int)));
        must(run("tree_sum", count - 1, 0));
        print(1);
    } else if (what == "place") {
        CUfunction function;
        must(find(&function, "place"));
        Args args{to, from, 0, 0};
        void *parameters[] = {&args};
        must(cuLaunchKernel(function, 2, 1, 2, 4, 2, 8, 0, stream, parameters, nullptr));
        must(cuStreamSynchronize(stream));
        print(count);
    } else if (what == "stale") {
        // The upload is still on its way when its source changes.
        int *pinned;
        must(cuMemHostAlloc(reinterpret_cast<void **>(&pinned), sizeof(int), 0));
        *pinned = 1;
        must(cuMemcpyHtoDAsync_v2(to, pinned, sizeof(int), stream));
        *pinned = 2;
        must(cuStreamSynchronize(stream));
        print(1);
    } else if (what == "query") {
        must(run("offset", 1, 0));
        CUfunction function;
        must(find(&function, "offset"));
        Args args{to, from, 1, 0};
        void *parameters[] = {&args};
        for (int i = 0; i < 2; i++)
            must(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr));
        for (int i = 0; i < 3; i++)
            std::printf("%d ", cuStreamQuery(stream));
        std::printf("\n");
    } else if (what == "fresh") {
        print(1);
    } else if (what == "memory") {
        CUdeviceptr more;
        std::printf("%d ", cuMemAlloc_v2(&more, 1 << 10));
        std::printf("%d\n", cuMemAlloc_v2(&more, 1 << 10));
    } else if (what == "mapped") {
        void *plain, *mapped;
        must(cuMemHostAlloc(&plain, count * sizeof(int), 0));
        must(cuMemHostAlloc(&mapped, count * sizeof(int), 2));
        std::printf("%d ", cuMemHostGetDevicePointer_v2(&to, plain, 0));
        std::printf("%d ", cuMemHostGetDevicePointer_v2(&to, mapped, 0));
        std::printf("%d ", run("reverse", count, 0));
        std::printf("%d ", *static_cast<int *>(mapped));
        to = reinterpret_cast<CUdeviceptr>(plain);
        std::printf("%d\n", run("reverse", count, 0));
    } else if (what == "range") {
        int numbers[8] = {};
        std::printf("%d ", cuMemcpyHtoD_v2(to + count * sizeof(int) - 8, numbers, 32));
        std::printf("%d\n", cuMemcpyHtoD_v2(0x1000, numbers, 32));
    } else if (what == "freed") {
        must(cuMemFree_v2(from));
        std::printf("%d ", run("reverse", count, 0));
        std::printf("%d\n", cuMemFree_v2(from));
    } else if (what == "others") {
        CUdeviceptr mine = from;
        begin(1);
        from = mine;
        std::printf("%d\n", run("reverse", count, 0));
    } else if (what == "names") {
        CUfunction function;
        CUmodule module;
        must(cuModuleLoadData(&module, ptx("reverse", sizeof(Args)).c_str()));
        std::printf("%d ", cuModuleGetFunction(&function, module, "tree_sum"));
        std::printf("%d ", find(&function, "no_such"));
        std::printf("%d\n", find(&function, "reverse", sizeof(Args) + 8));
    } else if (what == "ptx") {
        CUmodule module;
        std::printf("%d ", cuModuleLoadData(&module, ".version 8.3\n.target sm_60\n"));
        std::printf("%d ", cuModuleLoadData(&module, ".version 7.0\n.target sm_90\n"));
        std::printf("%d\n", cuModuleLoadData(&module, "nonsense"));
    } else if (what == "together") {
        // So many blocks, which wait for each other.
        CUfunction function;
        must(find(&function, "together"));
        Args args{to, from, count, by};
        void *parameters[] = {&args};
        CUresult code = cuLaunchCooperativeKernel(function, by, 1, 1, threads, 1, 1, 0, stream, parameters);
        code = code ? code : cuStreamSynchronize(stream);
        std::printf("%d %d\n", code, code);
        if (code == SUCCESS)
            print(count);
    } else if (what == "fork") {
        if (pid_t child = fork())
            waitpid(child, nullptr, 0);
        else {
            std::printf("%d ", cuStreamSynchronize(stream));
            std::fflush(stdout);
            _exit(0);
        }
        std::printf("%d\n", cuStreamSynchronize(stream));
    } else {
        CUresult code = run(what.c_str(), count, by, what == "reverse" ? blocks : 1);
        std::printf("%d %d\n", code, cuStreamSynchronize(stream));
        if (code == SUCCESS)
            print(count);
    }
    return 0;
}
