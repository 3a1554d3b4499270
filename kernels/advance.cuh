// Brings the j-particles up to date: stores what the client wrote and predicts to the time of the
// block.
#pragma once

#include "precision.cuh"
#include "predictor.cuh"
#include "resolution.cuh"

#define ADVANCE_THREADS 512
// Words of records that a thread block takes at a time, at most: one a thread.
#define STAGED ADVANCE_THREADS

// Predicts a page, by a thread block of `threads` threads. `given` has predictions from the host, or is null. Returns
// what resolution.cuh wants to know of the page.
template <class P>
__device__ __forceinline__ unsigned predict_page(const Sources& j, unsigned place, const PageInfo& info, double ti,
                                                 const double* given, unsigned thread, unsigned threads)
{
    unsigned outside = 0;
    bool is_slow = false;
    typename P::Vector* to = (typename P::Vector*)j.predicted + (size_t)place * (P::VECTORS * PAGE);
    double* exact = j.exact + (size_t)place * (3 * PAGE);
    const double* raw = j.raw + (size_t)place * (RECORD * PAGE);
    const bool has_snap = (info.flags & PAGE_HAS_SNAP) != 0;
    for (int s = thread; s < PAGE; s += threads) {
        const double* column = raw + s;
        const double who = column[COLUMN_LABEL * PAGE];
        if (__double2hiint(who) == 0) {
            // Nothing here: a massless particle where it disturbs nobody.
            for (int vector = 0; vector < P::VECTORS; ++vector) {
                to[vector * PAGE + s] = P::absent(vector);
            }
            for (int k = 0; k < 3; ++k) {
                exact[k * PAGE + s] = __longlong_as_double(0x7ff8000000000000LL);
            }
            continue;
        }
        // All numbers are asked for before any is used: memory is waited for once.
        double record[COLUMN_LABEL];
#pragma unroll
        for (int c = 0; c < COLUMN_LABEL; ++c) {
            const bool is_used = c < COLUMN_X ? !given || c == COLUMN_MASS : !given && (has_snap || c < COLUMN_A2BY18);
            record[c] = is_used ? column[c * PAGE] : 0.0;
        }
        double x[3], v[3];
        // What has no mass may be anywhere.
        const bool counts = record[COLUMN_MASS] != 0.0;
#pragma unroll
        for (int k = 0; k < 3; ++k) {
            Predicted moved;
            if (given) {
                moved.x = given[k * PAGE + s];
                moved.v = given[(3 + k) * PAGE + s];
            } else {
                moved = predict(record, 1, k, __dsub_rn(ti, record[COLUMN_TIME]), has_snap);
            }
            exact[k * PAGE + s] = moved.x;
            x[k] = __dmul_rn(moved.x, j.length);
            v[k] = __dmul_rn(moved.v, j.velocity);
            for (unsigned n = 0; n < SPHERES; ++n) {
                outside = counts && fabs(x[k]) > sphere(n) ? max(outside, n + 1) : outside;
            }
            is_slow = is_slow || (counts && v[k] != 0.0 && fabs(v[k]) < SLOW);
        }
        const double m = __dmul_rn(record[COLUMN_MASS], info.mass_inverse);
        P::store(to, s, x, v, m, __double2loint(who));
    }
    unsigned far = __syncthreads_or(is_slow) ? IS_SLOW : 0;
#pragma unroll
    for (unsigned n = 0; n < SPHERES; ++n) {
        far += __syncthreads_or(outside > n) ? 1 : 0;
    }
    return far;
}

// The column of a word of a short record.
__device__ __forceinline__ unsigned column_of(unsigned word)
{
    return word == 0 ? COLUMN_MASS : word == SHORT_RECORD - 1 ? COLUMN_LABEL : COLUMN_X + word - 1;
}

template <class P>
__device__ __forceinline__ void advance(const AdvanceArgs& a)
{
    __shared__ PageWork work;
    __shared__ double staged[STAGED];
    if (blockIdx.x >= a.pages) {
        const unsigned n = (blockIdx.x - a.pages) * ADVANCE_THREADS + threadIdx.x;
        if (n < a.fetch) {
            a.to[n] = a.from[n];
        }
        return;
    }
    // Work and records may lie in memory of the host: each word is read once.
    if (threadIdx.x < sizeof(PageWork) / sizeof(double)) {
        ((double*)&work)[threadIdx.x] = ((const double*)(a.work + blockIdx.x))[threadIdx.x];
    }
    __syncthreads();
    double* raw = a.j.raw + (size_t)work.place * (RECORD * PAGE);

    const bool is_short = (work.flags & WORK_SHORT) != 0;
    if (work.flags & WORK_FRESH) {
        for (int n = (is_short ? 0 : COLUMN_LABEL * PAGE) + threadIdx.x; n < RECORD * PAGE; n += blockDim.x) {
            raw[n] = 0.0;
        }
        __syncthreads();
    }
    // Consecutive threads take consecutive words of the records.
    const unsigned width = is_short ? SHORT_RECORD : RECORD;
    const unsigned most = is_short ? STAGED / SHORT_RECORD : STAGED / RECORD;
    for (unsigned n = 0; n < work.records; n += most) {
        const unsigned words = min(work.records - n, most) * width;
        const unsigned w = threadIdx.x;
        if (w < words) {
            staged[w] = a.records[work.begin + (size_t)n * width + w];
        }
        __syncthreads();
        if (w < words) {
            const unsigned word = is_short ? w % SHORT_RECORD : w % RECORD;
            const double who = staged[w - word + width - 1];
            // The upper half is PAGE and the slot.
            raw[(is_short ? column_of(word) : word) * PAGE + ((unsigned)__double2hiint(who) - PAGE)] = staged[w];
        }
        __syncthreads();
    }
    const double* given = a.predictions ? a.predictions + (size_t)blockIdx.x * (6 * PAGE) : 0;
    const unsigned far = predict_page<P>(a.j, work.place, work.info, a.ti, given, threadIdx.x, blockDim.x);
    if (threadIdx.x == 0) {
        a.j.far[work.place] = far;
        a.j.pages[work.place] = work.info;
    }
}
