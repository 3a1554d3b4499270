// What the pair loop of regular.cuh left out, in double precision: neighbours by the test of src/core/force/regular.rs,
// operation by operation, so that lists are those of the CPU; and the sums over what is none. Then the join of all sums,
// and the lists.
#pragma once

#include "regular_layout.cuh"

#define DECIDE_THREADS 128
#define REGULAR_JOIN_THREADS 256
// Targets of one thread block of the kernel that joins.
#define REGULAR_JOIN_COLUMNS 8
#define REGULAR_JOIN_LANES (REGULAR_JOIN_THREADS / REGULAR_JOIN_COLUMNS)

__device__ __forceinline__ double square(const double* r)
{
    return __dadd_rn(__dadd_rn(__dmul_rn(r[0], r[0]), __dmul_rn(r[1], r[1])), __dmul_rn(r[2], r[2]));
}

// A source, and a target.
struct ExactPair {
    double r[3];
    double v[3];
    double r2;
    double m;

    __device__ __forceinline__ ExactPair(const double* source, const RegularTarget& i)
    {
#pragma unroll
        for (int k = 0; k < 3; ++k) {
            r[k] = __dsub_rn(source[k * PAGE], i.x[k]);
            v[k] = __dsub_rn(source[(3 + k) * PAGE], i.v[k]);
        }
        r2 = square(r);
        m = source[6 * PAGE];
    }

    __device__ __forceinline__ bool is_near(const RegularTarget& i, unsigned by_mass) const
    {
        double ahead[3];
#pragma unroll
        for (int k = 0; k < 3; ++k) {
            ahead[k] = __dadd_rn(r[k], __dmul_rn(i.dtr, v[k]));
        }
        return fmin(r2, square(ahead)) < (by_mass ? __dmul_rn(m, i.h2) : i.h2);
    }

    // Nothing at no distance.
    __device__ __forceinline__ void add_to(double* sums) const
    {
        if (r2 == 0.0) {
            return;
        }
        const double inverse = rsqrt(r2);
        const double inverse2 = __dmul_rn(inverse, inverse);
        const double m_r = __dmul_rn(m, inverse);
        const double m_r3 = __dmul_rn(m_r, inverse2);
        double rv = __dmul_rn(r[0], v[0]);
        rv = __fma_rn(r[1], v[1], rv);
        rv = __fma_rn(r[2], v[2], rv);
        rv = __dmul_rn(__dmul_rn(rv, -3.0), inverse2);
#pragma unroll
        for (int k = 0; k < 3; ++k) {
            sums[k] = __fma_rn(m_r3, r[k], sums[k]);
            sums[4 + k] = __fma_rn(m_r3, __fma_rn(rv, r[k], v[k]), sums[4 + k]);
        }
        sums[3] = __dadd_rn(sums[3], m_r);
    }

    __device__ __forceinline__ void add_potential_to(double* sums) const
    {
        if (r2 != 0.0) {
            sums[3] = __fma_rn(m, rsqrt(r2), sums[3]);
        }
    }
};

// Adds up what the threads have, in the order of a tree, in place of what the first has.
template <int THREADS, int QUANTITIES>
__device__ __forceinline__ void add_up(double (*all)[THREADS])
{
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            for (int c = 0; c < QUANTITIES; ++c) {
                all[c][threadIdx.x] = __dadd_rn(all[c][threadIdx.x], all[c][threadIdx.x + half]);
            }
        }
    }
    __syncthreads();
}

// One thread block a target. A thread has every DECIDE_THREADS-th word, whatever else there is.
template <bool POTENTIAL>
__device__ __forceinline__ void decide(const RegularArgs& a)
{
    __shared__ double all[SUMS][DECIDE_THREADS];
    __shared__ unsigned count;
    const unsigned which = blockIdx.x, thread = threadIdx.x;
    const RegularTarget i = a.targets[which];
    unsigned* words = a.words + (size_t)which * a.pages * WORDS;
    const unsigned end = a.pages * WORDS;
    double sums[SUMS];
    for (int c = 0; c < SUMS; ++c) {
        sums[c] = 0.0;
    }
    if (thread == 0) {
        count = 0;
    }
    __syncthreads();
    unsigned found = 0;
    for (unsigned w = thread; w < end; w += DECIDE_THREADS) {
        unsigned left = words[w];
        if (left == 0) {
            continue;
        }
        const unsigned long long first = (unsigned long long)w * WORD;
        const double* page = a.columns + (size_t)(w / WORDS) * (SOURCE_COLUMNS * PAGE) + w % WORDS * WORD;
        unsigned near = 0;
        for (; left; left &= left - 1) {
            const int slot = WORD - 1 - __clz((int)(left & (0u - left)));
            if (first + slot >= a.sources) {
                break;
            }
            const ExactPair pair(page + slot, i);
            if (POTENTIAL) {
                pair.add_potential_to(sums);
            } else if (pair.is_near(i, a.by_mass)) {
                near |= 1u << slot;
            } else {
                pair.add_to(sums);
            }
        }
        words[w] = near;
        found += __popc(near);
    }
    atomicAdd(&count, found);
    for (int c = 0; c < SUMS; ++c) {
        all[c][thread] = sums[c];
    }
    add_up<DECIDE_THREADS, SUMS>(all);
    if (thread < SUMS) {
        a.exact[(size_t)thread * a.ni + which] = all[thread][0];
    }
    if (thread == 0) {
        a.counts[which] = count;
    }
}

// The sums of a page for a target, of all its rows: joined before they are multiplied, whatever their number.
__device__ __forceinline__ double of_page(const double* sums, unsigned rows, size_t row)
{
    double s = sums[0];
    if (rows > 1) {
        s = __dadd_rn(s, sums[row]);
    }
    if (rows > 2) {
        s = __dadd_rn(s, __dadd_rn(sums[2 * row], sums[3 * row]));
    }
    return s;
}

// One thread block for a quantity of REGULAR_JOIN_COLUMNS targets: lane l has the pages l, l + lanes, ...
__device__ __forceinline__ void join_regular_sums(const RegularArgs& a)
{
    __shared__ double all[REGULAR_JOIN_THREADS];
    const unsigned column = threadIdx.x, lane = threadIdx.y;
    const unsigned thread = lane * REGULAR_JOIN_COLUMNS + column;
    const unsigned which = blockIdx.x * REGULAR_JOIN_COLUMNS + column;
    const size_t row = (size_t)SUMS * a.ni;
    const double* from = a.sums + (size_t)blockIdx.y * a.ni + min(which, a.ni - 1);
    const double area = __dmul_rn(a.inverse_root, a.inverse_root);
    const double root = blockIdx.y == 3 ? a.inverse_root : __dmul_rn(a.inverse_root, area);
    double s = 0.0;
#pragma unroll 4
    for (unsigned page = lane; page < a.pages; page += REGULAR_JOIN_LANES) {
        const double factor = __dmul_rn(a.info[page].mass_unit, root);
        s = __dadd_rn(s, __dmul_rn(of_page(from + (size_t)page * a.rows * row, a.rows, row), factor));
    }
    all[thread] = s;
    for (unsigned half = REGULAR_JOIN_THREADS / 2; half >= REGULAR_JOIN_COLUMNS; half /= 2) {
        __syncthreads();
        if (thread < half) {
            all[thread] = __dadd_rn(all[thread], all[thread + half]);
        }
    }
    if (lane == 0 && which < a.ni) {
        const size_t at = (size_t)blockIdx.y * a.ni + which;
        a.results[at] = __dadd_rn(all[column], a.exact[at]);
    }
}

// One thread block a target: its neighbours, behind those of the targets before it. In each round a thread has four
// words, so that addresses ascend.
__device__ __forceinline__ void list_neighbours(const RegularArgs& a)
{
    __shared__ unsigned counts[DECIDE_THREADS];
    __shared__ unsigned long long begin;
    const unsigned which = blockIdx.x, thread = threadIdx.x;
    const unsigned wanted = min(a.counts[which], a.longest);
    if (thread == 0) {
        begin = 0;
    }
    __syncthreads();
    if (wanted == 0) {
        return;
    }
    unsigned long long before = 0;
    for (unsigned other = thread; other < which; other += DECIDE_THREADS) {
        before += min(a.counts[other], a.longest);
    }
    atomicAdd(&begin, before);
    __syncthreads();
    int* to = a.list + begin;
    const uint4* words = (const uint4*)(a.words + (size_t)which * a.pages * WORDS);
    const unsigned end = a.pages * (WORDS / 4);
    unsigned total = 0;
    for (unsigned round = 0; round < end && total < wanted; round += DECIDE_THREADS) {
        const unsigned v = round + thread;
        const uint4 mine = v < end ? words[v] : uint4{0, 0, 0, 0};
        const unsigned found = __popc(mine.x) + __popc(mine.y) + __popc(mine.z) + __popc(mine.w);
        if (!__syncthreads_or(found != 0)) {
            continue;
        }
        counts[thread] = found;
        __syncthreads();
        unsigned at = total;
        for (unsigned other = 0; other < DECIDE_THREADS; ++other) {
            at += other < thread ? counts[other] : 0;
            total += counts[other];
        }
        const unsigned four[4] = {mine.x, mine.y, mine.z, mine.w};
#pragma unroll
        for (int n = 0; n < 4; ++n) {
            for (unsigned left = four[n]; left && at < wanted; left &= left - 1) {
                to[at++] = (int)((v * 4 + n) * WORD + (WORD - 1 - __clz((int)(left & (0u - left)))));
            }
        }
        __syncthreads();
    }
}
