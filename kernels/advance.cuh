// Brings the j-particles up to date: stores what the client wrote and predicts to the time of the
// block.
#pragma once

#include "precision.cuh"
#include "predictor.cuh"
#include "resolution.cuh"

#define ADVANCE_THREADS 512
// Records that a thread block takes at a time: a word a thread.
#define STAGED (ADVANCE_THREADS / RECORD)

template <class P>
__device__ __forceinline__ void advance(const AdvanceArgs& a)
{
    __shared__ PageWork work;
    __shared__ double staged[STAGED * RECORD];
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

    if (work.fresh) {
        for (int s = threadIdx.x; s < PAGE; s += blockDim.x) {
            raw[COLUMN_LABEL * PAGE + s] = 0.0;
        }
        __syncthreads();
    }
    // Consecutive threads take consecutive words of the records.
    for (unsigned n = work.begin; n < work.end; n += STAGED) {
        const unsigned words = min(work.end - n, (unsigned)STAGED) * RECORD;
        const unsigned w = threadIdx.x;
        if (w < words) {
            staged[w] = a.records[(size_t)n * RECORD + w];
        }
        __syncthreads();
        if (w < words) {
            const double who = staged[w / RECORD * RECORD + COLUMN_LABEL];
            raw[w % RECORD * PAGE + ((unsigned)__double2hiint(who) & (PAGE - 1))] = staged[w];
        }
        __syncthreads();
    }
    unsigned outside = 0;
    bool is_slow = false;
    typename P::Vector* to = (typename P::Vector*)a.j.predicted + (size_t)work.place * (P::VECTORS * PAGE);
    double* exact = a.j.exact + (size_t)work.place * (3 * PAGE);
    const double* given = a.predictions ? a.predictions + (size_t)blockIdx.x * (6 * PAGE) : 0;
    const bool has_snap = (work.info.flags & PAGE_HAS_SNAP) != 0;
    for (int s = threadIdx.x; s < PAGE; s += blockDim.x) {
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
                moved = predict(record, 1, k, __dsub_rn(a.ti, record[COLUMN_TIME]), has_snap);
            }
            exact[k * PAGE + s] = moved.x;
            x[k] = __dmul_rn(moved.x, a.j.length);
            v[k] = __dmul_rn(moved.v, a.j.velocity);
            for (unsigned n = 0; n < SPHERES; ++n) {
                outside = counts && fabs(x[k]) > sphere(n) ? max(outside, n + 1) : outside;
            }
            is_slow = is_slow || (counts && v[k] != 0.0 && fabs(v[k]) < SLOW);
        }
        const double m = __dmul_rn(record[COLUMN_MASS], work.info.mass_inverse);
        P::store(to, s, x, v, m, __double2loint(who));
    }
    unsigned far = __syncthreads_or(is_slow) ? IS_SLOW : 0;
#pragma unroll
    for (unsigned n = 0; n < SPHERES; ++n) {
        far += __syncthreads_or(outside > n) ? 1 : 0;
    }
    if (threadIdx.x == 0) {
        a.j.far[work.place] = far;
        a.j.pages[work.place] = work.info;
    }
}
