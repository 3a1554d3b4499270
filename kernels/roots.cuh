// The approximate reciprocal roots of some numbers: from them the host knows their mean error.
#pragma once

#include "layout.cuh"

#define ROOT_THREADS 256

__device__ __forceinline__ void reciprocal_roots_of(const RootArgs& a)
{
    const unsigned n = blockIdx.x * ROOT_THREADS + threadIdx.x;
    if (n < a.count) {
        a.y[n] = kirin_rsqrt(a.x[n]);
    }
}
