// Joins sums along the tree: those of a page's leaves, and those that the thread blocks left.
#pragma once

#include "layout.cuh"

#define JOIN_THREADS 256
// i-particles of one thread block of the kernel `join_sums`.
#define JOIN_COLUMNS 32

// Sums on the way up the tree of a page, which wait for their right neighbour: those of subtrees, and those of the
// first run of a leaf.
template <class P, int R>
struct Waiting {
    double sums[3][R][SUMS];
    typename P::Number first_run[P::RUN < LEAF ? R : 1][SUMS];

    // Joins the first QUANTITIES sums of the leaf number `leaf` of some leaves, for SOME i-particles, with those that
    // waited for it. What comes of it is in `total`, and waits itself unless the leaf is the last one. `depth` is 0 at
    // the first.
    template <int SOME, int QUANTITIES>
    __device__ __forceinline__ void join(int leaf, bool is_last, int& depth, double (*total)[SUMS])
    {
        for (int complete = leaf; complete & 1; complete >>= 1) {
            --depth;
#pragma unroll
            for (int r = 0; r < SOME; ++r) {
#pragma unroll
                for (int c = 0; c < QUANTITIES; ++c) {
                    total[r][c] = __dadd_rn(sums[depth][r][c], total[r][c]);
                }
            }
        }
        if (!is_last) {
#pragma unroll
            for (int r = 0; r < SOME; ++r) {
#pragma unroll
                for (int c = 0; c < QUANTITIES; ++c) {
                    sums[depth][r][c] = total[r][c];
                }
            }
            ++depth;
        }
    }
};

// The `quantities` sums from `quantity` on of the `columns` i-particles from `first` on, by all threads
// of a block. Other blocks wrote them: they are read from where those meet, not from this
// multiprocessor's own cache.
__device__ __forceinline__ void join(const ForceArgs& a, unsigned first, unsigned columns, unsigned quantity,
                                     unsigned quantities, unsigned thread, unsigned threads)
{
    const unsigned width = columns * quantities;
    const size_t one_sum = (size_t)SUMS * a.ni;
    double* sums = a.sums + (size_t)quantity * a.ni + first;
    double* results = a.joining.results + (size_t)quantity * a.ni + first;
    unsigned begin = 0;
    for (unsigned round = 0; round < a.joining.count; ++round) {
        const unsigned end = a.joining.rounds[round];
        for (unsigned n = begin * width + thread; n < end * width; n += threads) {
            const uint2 step = a.joining.steps[n / width];
            double* at = sums + n % width / columns * (size_t)a.ni + n % columns;
            const double more = __ldcg(at + step.y * one_sum);
            at += step.x * one_sum;
            *at = __dadd_rn(__ldcg(at), more);
        }
        begin = end;
        __syncthreads();
    }
    for (unsigned n = thread; n < a.joining.keep * width; n += threads) {
        const size_t at = n % width / columns * (size_t)a.ni + n % columns;
        results[n / width * one_sum + at] = __ldcg(sums + a.joining.kept[n / width] * one_sum + at);
    }
}

// One thread block for a quantity of JOIN_COLUMNS i-particles.
__device__ __forceinline__ void join_quantity(const ForceArgs& a)
{
    const unsigned first = blockIdx.x * JOIN_COLUMNS;
    join(a, first, min(a.ni - first, (unsigned)JOIN_COLUMNS), blockIdx.y, 1, threadIdx.x, JOIN_THREADS);
}
