// What every kernel of kirin starts from: the way a kernel is declared, on the device and on the
// host (where ffi-tests/fake-cuda/shim runs the same sources in tests).
//
// A kernel takes one plain struct by value, called `a`. Every operation whose rounding matters is
// written as an intrinsic that the compiler cannot fuse; fused ones are written out as such.
#pragma once

#ifdef __CUDACC__
#define KERNEL(name, Args, threads) \
    extern "C" __global__ void __launch_bounds__(threads) name(const Args a)
// Where registers are what counts: at least so many blocks to a multiprocessor.
#define CROWDED_KERNEL(name, Args, threads, blocks) \
    extern "C" __global__ void __launch_bounds__(threads, blocks) name(const Args a)

// 1 / sqrt(x) to about 23 bits; infinite for zero.
__device__ __forceinline__ float kirin_rsqrt(float x)
{
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// Makes the compiler keep what lies there in memory rather than in registers.
__device__ __forceinline__ void keep_in_memory(const void* there)
{
    asm volatile("" : : "l"(there) : "memory");
}
#else
#include "shim.h"
static inline void keep_in_memory(const void*) {}
#define CROWDED_KERNEL(name, Args, threads, blocks) KERNEL(name, Args, threads)
#endif
