// Joins sums along the tree: those of a page's leaves, and those that the thread blocks left.
#pragma once

#include "done.cuh"

#define JOIN_THREADS 256
// i-particles of one thread block of the kernel `join_sums`.
#define JOIN_COLUMNS 32
// Words of shared memory in which it joins them: those of every capability allow so many.
#define JOIN_WORDS 5632

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

// Where a thread block of `join_sums` works: on one quantity of some i-particles.
struct Columns {
    double* sums; // of the first i-particle
    double* results;
    unsigned count;
    size_t one_sum; // words from a sum to the next
};

// Joins sums where they lie: each round waits for memory twice.
__device__ __forceinline__ void join_in_memory(const Joining& tree, const Columns& c)
{
    unsigned begin = 0;
    for (unsigned round = 0; round < tree.count; ++round) {
        const unsigned end = tree.rounds[round];
        for (unsigned n = begin * c.count + threadIdx.x; n < end * c.count; n += JOIN_THREADS) {
            const uint2 step = tree.steps[n / c.count];
            double* at = c.sums + n % c.count;
            at[step.x * c.one_sum] = __dadd_rn(at[step.x * c.one_sum], at[step.y * c.one_sum]);
        }
        begin = end;
        __syncthreads();
    }
    for (unsigned n = threadIdx.x; n < tree.keep * c.count; n += JOIN_THREADS) {
        const unsigned row = n / c.count, column = n % c.count;
        c.results[row * c.one_sum + column] = c.sums[tree.kept[row] * c.one_sum + column];
    }
}

// Joins sums in shared memory, some columns after the other if not all find room; which sum is added to which is the
// tree's order all the same. On an H100 this takes a fifth of the time of `join_in_memory`.
__device__ __forceinline__ void join(const Joining& tree, const Columns& c)
{
    // In front lie the steps, two halves of a word each, and the ends of the rounds.
    __shared__ double room[JOIN_WORDS];
    unsigned* list = (unsigned*)room;
    const unsigned steps = tree.count ? tree.rounds[tree.count - 1] : 0;
    const unsigned front = (steps + tree.count + 1) / 2;
    // Columns side by side: a power of two.
    unsigned shift = 0;
    while (1u << shift < c.count) {
        ++shift;
    }
    while (shift > 0 && front + (tree.sums << shift) > JOIN_WORDS) {
        --shift;
    }
    if (front + (tree.sums << shift) > JOIN_WORDS) {
        join_in_memory(tree, c);
        return;
    }
    for (unsigned n = threadIdx.x; n < steps; n += JOIN_THREADS) {
        const uint2 step = tree.steps[n];
        list[n] = step.x << 16 | step.y;
    }
    for (unsigned n = threadIdx.x; n < tree.count; n += JOIN_THREADS) {
        list[steps + n] = tree.rounds[n];
    }
    const unsigned column = threadIdx.x & ((1u << shift) - 1), row = threadIdx.x >> shift;
    const unsigned rows = JOIN_THREADS >> shift;
    double* mine = room + front + column;
    for (unsigned first = 0; first < c.count; first += 1u << shift) {
        const bool present = first + column < c.count;
        const double* from = c.sums + first + column;
#pragma unroll 8
        for (unsigned n = row; n < (present ? tree.sums : 0); n += rows) {
            mine[n << shift] = from[n * c.one_sum];
        }
        __syncthreads();
        unsigned begin = 0;
        for (unsigned round = 0; round < tree.count; ++round) {
            const unsigned end = list[steps + round];
            for (unsigned n = begin + row; n < (present ? end : 0); n += rows) {
                double* to = mine + (list[n] >> 16 << shift);
                *to = __dadd_rn(*to, mine[(list[n] & 0xffff) << shift]);
            }
            begin = end;
            __syncthreads();
        }
        for (unsigned n = row; n < (present ? tree.keep : 0); n += rows) {
            c.results[n * c.one_sum + first + column] = mine[tree.kept[n] << shift];
        }
        __syncthreads(); // everybody is done with these columns
    }
}

// One thread block for a quantity of JOIN_COLUMNS i-particles.
__device__ __forceinline__ void join_quantity(const ForceArgs& a)
{
    const unsigned first = blockIdx.x * JOIN_COLUMNS;
    const size_t at = (size_t)blockIdx.y * a.ni + first;
    const unsigned count = min(a.ni - first, (unsigned)JOIN_COLUMNS);
    join(a.joining, {a.sums + at, a.joining.results + at, count, (size_t)SUMS * a.ni});
    tell_done(a, threadIdx.x);
}
