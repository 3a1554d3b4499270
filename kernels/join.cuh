// Joins the partial sums of all thread blocks on the device.
#pragma once

#include "layout.cuh"

#define JOIN_THREADS 256

// A thread block has blockDim.x i-particles; its rows share the steps of a round among them.
__device__ __forceinline__ void join(const JoinArgs& a)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool present = i < a.ni;
    unsigned begin = 0;
    for (unsigned round = 0; round < a.count; ++round) {
        const unsigned end = a.rounds[round];
        if (present) {
            for (unsigned n = begin * SUMS + threadIdx.y; n < end * SUMS; n += blockDim.y) {
                const uint2 step = a.steps[n / SUMS];
                double* to = a.sums + ((size_t)step.x * SUMS + n % SUMS) * a.ni + i;
                const double* from = a.sums + ((size_t)step.y * SUMS + n % SUMS) * a.ni + i;
                *to = __dadd_rn(*to, *from);
            }
        }
        begin = end;
        __syncthreads();
    }
    if (present) {
        for (unsigned n = threadIdx.y; n < a.keep * SUMS; n += blockDim.y) {
            a.results[(size_t)n * a.ni + i] = a.sums[((size_t)a.kept[n / SUMS] * SUMS + n % SUMS) * a.ni + i];
        }
    }
}
