// How the host learns that the results of a block are in its memory.
#pragma once

#include "layout.cuh"

// The end of each thread block of a block's last kernel. `thread` is the number of the calling thread. The barrier
// orders the results of all threads before the fence, and the fence before the number: whoever sees the number sees
// the results.
__device__ __forceinline__ void tell_done(const ForceArgs& a, unsigned thread)
{
    if (a.done) {
        __syncthreads();
        if (thread == 0) {
            __threadfence_system();
            *(volatile unsigned*)(a.done + blockIdx.y * gridDim.x + blockIdx.x) = a.number;
        }
    }
}
