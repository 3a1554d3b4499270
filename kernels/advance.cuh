// Brings the j-particles up to date: stores what the client wrote and predicts to the time of the
// block. The predictor is the one of src/predictor.rs, operation by operation.
#pragma once

#include "precision.cuh"

#define ADVANCE_THREADS 256

// Coordinates beyond this (scaled) may make terms vanish in single precision.
#define FAR_AWAY 1e10

struct Predicted {
    double x;
    double v;
};

// `column` points at the position of one coordinate of one particle.
__device__ __forceinline__ Predicted predict(const double* column, double s, bool has_snap)
{
    const int each = (COLUMN_V - COLUMN_X) * PAGE;
    const double x = column[0];
    const double v = column[each];
    const double aby2 = column[2 * each];
    const double a1by6 = column[3 * each];

    double p = a1by6;
    double q = __dmul_rn(3.0, a1by6);
    if (has_snap) {
        const double a2by18 = column[4 * each];
        p = __dadd_rn(p, __dmul_rn(s, __dmul_rn(0.75, a2by18)));
        q = __dadd_rn(q, __dmul_rn(s, __dmul_rn(3.0, a2by18)));
    }
    p = __dadd_rn(aby2, __dmul_rn(s, p));
    p = __dadd_rn(v, __dmul_rn(s, p));
    p = __dadd_rn(x, __dmul_rn(s, p));
    q = __dadd_rn(__dmul_rn(2.0, aby2), __dmul_rn(s, q));
    q = __dadd_rn(v, __dmul_rn(s, q));

    Predicted moved;
    moved.x = s == 0.0 ? x : p;
    moved.v = s == 0.0 ? v : q;
    return moved;
}

template <class P>
__device__ __forceinline__ void advance(const AdvanceArgs& a)
{
    __shared__ unsigned far_away;
    const PageWork work = a.work[blockIdx.x];
    double* raw = a.j.raw + (size_t)work.place * (RECORD * PAGE);

    if (work.fresh) {
        for (int s = threadIdx.x; s < PAGE; s += blockDim.x) {
            raw[COLUMN_LABEL * PAGE + s] = 0.0;
        }
        __syncthreads();
    }
    // Consecutive threads take consecutive words of the records.
    for (unsigned w = threadIdx.x; w < (work.end - work.begin) * RECORD; w += blockDim.x) {
        const double* record = a.records + (size_t)(work.begin + w / RECORD) * RECORD;
        const unsigned slot = (unsigned)__double2hiint(record[COLUMN_LABEL]) & (PAGE - 1);
        raw[(w % RECORD) * PAGE + slot] = record[w % RECORD];
    }
    if (threadIdx.x == 0) {
        far_away = 0;
    }
    __syncthreads();

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
        double x[3], v[3];
        bool beyond = false;
        for (int k = 0; k < 3; ++k) {
            Predicted moved;
            if (given) {
                moved.x = given[k * PAGE + s];
                moved.v = given[(3 + k) * PAGE + s];
            } else {
                const double interval = __dsub_rn(a.ti, column[COLUMN_TIME * PAGE]);
                moved = predict(column + (COLUMN_X + k) * PAGE, interval, has_snap);
            }
            exact[k * PAGE + s] = moved.x;
            x[k] = __dmul_rn(moved.x, a.j.length);
            v[k] = __dmul_rn(moved.v, a.j.velocity);
            beyond = beyond || !(fabs(x[k]) <= FAR_AWAY);
        }
        const double m = __dmul_rn(column[COLUMN_MASS * PAGE], work.info.mass_inverse);
        P::store(to, s, x, v, m, __double2loint(who));
        if (beyond) {
            atomicOr(&far_away, 1u);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        a.j.far[work.place] = far_away;
        a.j.pages[work.place] = work.info;
    }
}
