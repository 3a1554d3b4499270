// Leaves that single precision cannot sum, summed again in double precision from the positions predicted in
// double precision. Which those are, and why the potential of a leaf shows that it is none of them:
// src/backend/cpu/reach.rs. Here the potentials of all leaves of a page that a thread has summed are held against
// the bound together, after the last of them: the loop over leaves has one more instruction for it. What is summed
// again is decided leaf by leaf, so it does not depend on how the leaves of a page are shared among threads.
#pragma once

#include "join.cuh"
#include "leaf.cuh"
#include "predictor.cuh"

// In the units of the kernels: the closest pair that split positions can tell, as a part of the
// i-particle's distance from the origin; the closest that single precision can; where it ends.
#define CLOSE (1.0 / 16777216.0)
#define CLOSEST 1e-12
#define FARTHEST 1e8
// What a leaf of a doubtful page must have of potential, or its terms may have vanished.
#define LEAST_POTENTIAL 1e-9
// A little less than 1, for the rounding of sums.
#define ROUNDING (1.0 - 1.0 / 1024.0)

// The part of a page that one thread sums.
template <class P>
struct Run {
    unsigned place; // of the page in device memory
    unsigned position; // in `order`
    int begin; // leaves
    int end;
    int present; // slots below nj
    bool mask; // whether the label of an i-particle may be among those of the page
    bool doubtful; // whether terms may vanish in single precision
    typename P::Number least_mass; // of the page; negative if the potential tells nothing of distances
};

__device__ __forceinline__ bool are_finite(const double* sums)
{
    bool finite = true;
#pragma unroll
    for (int c = 0; c < SUMS; ++c) {
        finite = finite && (__double2hiint(sums[c]) & 0x7ff00000) != 0x7ff00000;
    }
    return finite;
}

// Whether the joined sums of a run, and the greatest potential of its leaves, show that every pair was told and none
// overflowed or vanished.
template <class P>
__device__ __forceinline__ bool show_every_pair(const Run<P>& run, const Target<P>& i, typename P::Number greatest,
                                                const double* sums)
{
    typedef typename P::Number Number;
    if (P::EXACT) {
        return are_finite(sums);
    }
    // No less than the distance from the origin.
    const Number distance = P::add(P::add(P::magnitude(i.x[0]), P::magnitude(i.x[1])), P::magnitude(i.x[2]));
    const Number told = P::SPLIT ? P::greatest(P::mul(distance, (Number)CLOSE), (Number)CLOSEST) : (Number)CLOSEST;
    return are_finite(sums) && !run.doubtful && distance <= (Number)FARTHEST && i.eps2 <= (Number)FARTHEST
        && P::mul(greatest, told) <= P::mul(run.least_mass, (Number)ROUNDING);
}

// Which pairs with an i-particle can be told.
template <class P>
struct Reach {
    bool any; // whether its numbers have the range
    typename P::Number closest2; // square of the smallest softened distance

    __device__ __forceinline__ explicit Reach(const Target<P>& i)
    {
        typedef typename P::Number Number;
        Number norm2 = P::mul(i.x[0], i.x[0]);
        norm2 = P::fma(i.x[1], i.x[1], norm2);
        norm2 = P::fma(i.x[2], i.x[2], norm2);
        any = P::EXACT || (norm2 <= (Number)(FARTHEST * FARTHEST) && i.eps2 <= (Number)FARTHEST);
        closest2 = P::greatest(P::SPLIT ? P::mul(norm2, (Number)(CLOSE * CLOSE)) : 0, (Number)(CLOSEST * CLOSEST));
    }
};

// Whether a leaf has a massive particle that is too close to be told.
template <class P>
__device__ __forceinline__ bool has_close_pair(const Tile<P>& tile, int leaf, const Target<P>& i, const Reach<P>& reach)
{
    bool found = false;
    if (!P::EXACT) {
#pragma unroll 1
        for (int n = 0; n < LEAF; ++n) {
            const typename P::Vector j = tile.at[0][leaf][n];
            const typename P::Vector jlow = tile.at[P::SPLIT ? 2 : 1][leaf][n];
            const bool counts = j.w != 0 && P::label(tile.at[1][leaf][n].w) != i.label;
            found = found || (counts && Separation<P>(j, jlow, i).r2 < reach.closest2);
        }
    }
    return found;
}

// The sums of one leaf in the precision of the pairs, the same as in the pair loop for many i-particles. Returns
// whether they can stand.
template <class P, bool JERK>
__device__ __forceinline__ bool sum_as_before(const Run<P>& run, const Tile<P>& tile, int leaf, const Target<P>& i,
                                              typename P::Number minus_three, double* total)
{
    typedef typename P::Number Number;
    Number first_run[SUMS], sums[1][SUMS];
    Number least[1];
#pragma unroll 1
    for (int first = 0; first < LEAF; first += P::RUN) {
#pragma unroll
        for (int c = 0; c < SUMS; ++c) {
            first_run[c] = first > 0 ? sums[0][c] : 0;
            sums[0][c] = 0;
        }
        add_run<P, JERK, false, true, 1, 1>(tile.at[0][leaf] + first, &i, minus_three, sums, least);
    }
#pragma unroll
    for (int c = 0; c < SUMS; ++c) {
        total[c] = P::RUN < LEAF ? P::add(first_run[c], sums[0][c]) : sums[0][c];
    }
    return are_finite(total) && (!run.doubtful || P::magnitude((Number)total[3]) >= (Number)LEAST_POTENTIAL);
}

// The sums over the slots begin..end of a page in double precision, whatever the numbers.
template <bool JERK>
__device__ __forceinline__ void sum_exactly(const ForceArgs& a, unsigned place, int begin, int end, const IRecord& i,
                                            double* sums)
{
    const double* raw = a.j.raw + (size_t)place * (RECORD * PAGE);
    const double* exact = a.j.exact + (size_t)place * (3 * PAGE);
    const double mass_inverse = a.j.pages[place].mass_inverse;
    const bool has_snap = (a.j.pages[place].flags & PAGE_HAS_SNAP) != 0;
    const double eps2 = __dmul_rn(i.eps2, __dmul_rn(a.j.length, a.j.length));
    const double most = __longlong_as_double(0x7fefffffffffffffLL);
#pragma unroll 1
    for (int c = 0; c < SUMS; ++c) {
        sums[c] = 0.0;
    }
#pragma unroll 1
    for (int slot = begin; slot < end; ++slot) {
        const double who = raw[COLUMN_LABEL * PAGE + slot];
        if (__double2hiint(who) == 0 || __double2loint(who) == (int)i.label) {
            continue;
        }
        double r[3];
        double r2 = eps2;
#pragma unroll 1
        for (int k = 0; k < 3; ++k) {
            r[k] = __dmul_rn(__dsub_rn(exact[k * PAGE + slot], i.x[k]), a.j.length);
            r2 = __fma_rn(r[k], r[k], r2);
        }
        if (r2 == 0.0) {
            continue; // coincident particles without softening exert no force
        }
        // Beyond the square root of the greatest number no force can be told from zero.
        const double inverse = rsqrt(r2 > most ? most : r2);
        const double inverse2 = __dmul_rn(inverse, inverse);
        const double m_r = __dmul_rn(__dmul_rn(raw[COLUMN_MASS * PAGE + slot], mass_inverse), inverse);
        const double m_r3 = __dmul_rn(m_r, inverse2);
#pragma unroll 1
        for (int k = 0; k < 3; ++k) {
            sums[k] = __fma_rn(m_r3, r[k], sums[k]);
        }
        sums[3] = __dadd_rn(sums[3], m_r);
        if (JERK) {
            const double interval = __dsub_rn(a.ti, raw[COLUMN_TIME * PAGE + slot]);
            double v[3];
            double rv = 0.0;
#pragma unroll 1
            for (int k = 0; k < 3; ++k) {
                const Predicted moved = predict(raw + slot, PAGE, k, interval, has_snap);
                v[k] = __dmul_rn(__dsub_rn(moved.v, i.v[k]), a.j.velocity);
                rv = __fma_rn(r[k], v[k], rv);
            }
            rv = __dmul_rn(__dmul_rn(rv, -3.0), inverse2);
#pragma unroll 1
            for (int k = 0; k < 3; ++k) {
                sums[4 + k] = __fma_rn(m_r3, __fma_rn(rv, r[k], v[k]), sums[4 + k]);
            }
        }
    }
    // What the approximate roots would have made of them: the factors of the page take that out of all its sums.
    const double root3 = __dmul_rn(__dmul_rn(a.root, a.root), a.root);
#pragma unroll 1
    for (int c = 0; c < SUMS; ++c) {
        sums[c] = __dmul_rn(sums[c], c == 3 ? a.root : root3);
    }
}

// Looks again at a run for one i-particle, whose joined sums show too little: `certainly` if they are of no use. Returns
// how many leaves were summed in double precision; if any were, `total` is the run's sums.
template <class P, bool JERK, int R>
__device__ __forceinline__ unsigned look_again(const ForceArgs& a, const Run<P>& run, const Tile<P>& tile,
                                               const IRecord& particle, bool certainly, Waiting<P, R>& waiting,
                                               double (*total)[SUMS])
{
    Target<P> i;
    i.load(particle, a.j);
    const Reach<P> reach(i);
    bool needed = certainly || run.doubtful || !reach.any;
#pragma unroll 1
    for (int leaf = run.begin; leaf < run.end && !needed; ++leaf) {
        needed = has_close_pair(tile, leaf, i, reach);
    }
    unsigned count = 0;
    int depth = 0;
#pragma unroll 1
    for (int leaf = run.begin; leaf < run.end && needed; ++leaf) {
#pragma unroll
        for (int c = 0; c < SUMS; ++c) {
            total[0][c] = 0.0;
        }
        if (leaf * LEAF < run.present) {
            const bool stands = reach.any && !has_close_pair(tile, leaf, i, reach)
                && sum_as_before<P, JERK>(run, tile, leaf, i, P::minus_three(a), total[0]);
            if (!stands) {
                sum_exactly<JERK>(a, run.place, leaf * LEAF, min((leaf + 1) * LEAF, run.present), particle, total[0]);
                ++count;
            }
        }
        waiting.template join<1, JERK ? SUMS : STILL_SUMS>(leaf - run.begin, leaf + 1 == run.end, depth, total);
    }
    return count;
}
