// Leaves that single precision cannot sum, summed again in double precision from the positions predicted in
// double precision. Which those are: resolution.cuh. Here the potentials of all leaves of a page that a thread has summed are
// held against the bound together, after the last of them: the loop over leaves has one more instruction for it. What is
// summed again is decided leaf by leaf, so it does not depend on how the leaves of a page are shared among threads.
#pragma once

#include "join.cuh"
#include "predictor.cuh"
#include "resolution.cuh"

// The sums of one leaf in the precision of the pairs, the same as in the pair loop for many i-particles.
template <class P, bool JERK>
__device__ __forceinline__ void sum_as_before(const Tile<P>& tile, int leaf, const Target<P>& i,
                                              typename P::Number minus_three, double* total)
{
    typedef typename P::Number Number;
    Number first_run[SUMS], sums[1][P::PARTS];
    Number least[1];
#pragma unroll 1
    for (int first = 0; first < LEAF; first += P::RUN) {
#pragma unroll
        for (int c = 0; c < SUMS; ++c) {
            first_run[c] = first > 0 ? sums[0][c] : 0;
        }
#pragma unroll
        for (int c = 0; c < P::PARTS; ++c) {
            sums[0][c] = 0;
        }
        add_run<P, JERK, false, true, 1, 1>(tile.at[0][leaf] + first, &i, minus_three, sums, least);
    }
#pragma unroll
    for (int c = 0; c < SUMS; ++c) {
        total[c] = P::RUN < LEAF ? P::add(first_run[c], sums[0][c]) : P::joined(sums[0], c);
    }
}

// The sums over the slots begin..end of a page in double precision, whatever the numbers: in the client's units, because
// in others the least softening might vanish. With q = r / s, which is 1 at most, every factor is in range: m / s^3
// overflows for s below 1e-103.
template <bool JERK>
__device__ __forceinline__ void sum_exactly(const ForceArgs& a, unsigned place, int begin, int end, const IRecord& i,
                                            double* sums)
{
    const double* raw = a.j.raw + (size_t)place * (RECORD * PAGE);
    const double* exact = a.j.exact + (size_t)place * (3 * PAGE);
    const double mass_inverse = a.j.pages[place].mass_inverse;
    const bool has_snap = (a.j.pages[place].flags & PAGE_HAS_SNAP) != 0;
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
        double q[3];
        double r2 = i.eps2;
#pragma unroll 1
        for (int k = 0; k < 3; ++k) {
            q[k] = __dsub_rn(exact[k * PAGE + slot], i.x[k]);
            r2 = __fma_rn(q[k], q[k], r2);
        }
        if (r2 == 0.0) {
            continue; // coincident particles without softening exert no force
        }
        // Beyond the square root of the greatest number no force can be told from zero.
        const double inverse = r2 > most ? 0.0 : rsqrt(r2);
        const double m_r = __dmul_rn(__dmul_rn(raw[COLUMN_MASS * PAGE + slot], mass_inverse), inverse);
#pragma unroll 1
        for (int k = 0; k < 3; ++k) {
            q[k] = __dmul_rn(q[k], inverse);
            sums[k] = __fma_rn(__dmul_rn(q[k], inverse), m_r, sums[k]);
        }
        sums[3] = __dadd_rn(sums[3], m_r);
        if (JERK) {
            const double interval = __dsub_rn(a.ti, raw[COLUMN_TIME * PAGE + slot]);
            double v[3];
            double qv = 0.0;
#pragma unroll 1
            for (int k = 0; k < 3; ++k) {
                const Predicted moved = predict(raw + slot, PAGE, k, interval, has_snap);
                v[k] = __dsub_rn(moved.v, i.v[k]);
                qv = __fma_rn(q[k], v[k], qv);
            }
            qv = __dmul_rn(qv, -3.0);
#pragma unroll 1
            for (int k = 0; k < 3; ++k) {
                const double w = __dmul_rn(__dmul_rn(__fma_rn(qv, q[k], v[k]), inverse), m_r);
                sums[4 + k] = __fma_rn(w, inverse, sums[4 + k]);
            }
        }
    }
    // What the units of the kernels, powers of two, and the approximate roots would have made of them: the factors of
    // the page take that out of all its sums.
    const double root3 = __dmul_rn(__dmul_rn(a.root, a.root), a.root);
    const double one = __ddiv_rn(1.0, a.j.length);
    keep_in_memory(sums);
#pragma unroll 1
    for (int c = 0; c < SUMS; ++c) {
        double s = __dmul_rn(sums[c], one);
        s = c == 3 ? s : __dmul_rn(s, one);
        s = c < 4 ? s : __dmul_rn(__dmul_rn(s, one), a.j.velocity);
        sums[c] = __dmul_rn(s, c == 3 ? a.root : root3);
    }
}

// Looks again at a run for one i-particle, whose joined sums show too little: `certainly` if they are of no use. Returns
// how many leaves were summed in double precision; if any were, `total` is the run's sums.
template <class P, bool JERK, int R>
__device__ __forceinline__ unsigned look_again(const ForceArgs& a, const Run<P>& run, const Tile<P>& tile,
                                               const IRecord& particle, bool certainly, Waiting<P, R>& waiting,
                                               double (*total)[SUMS])
{
    const Reach<P> reach(particle, a.j.length, a.j.velocity, P::SPLIT);
    LeafBounds bounds;
    // Not in registers, which the pair loop needs.
    keep_in_memory(&reach);
    keep_in_memory(&bounds);
    // In double precision a leaf stands if its sums are finite.
    bool needed = P::EXACT || certainly || !reach.in_range;
#pragma unroll 1
    for (int leaf = run.begin; leaf < run.end && !needed; ++leaf) {
        needed = look_at_leaf(run, tile, leaf, particle, a.j, reach, bounds) || !reach.loses_nothing(bounds, JERK);
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
            bool stands = P::EXACT || (reach.in_range && !look_at_leaf(run, tile, leaf, particle, a.j, reach, bounds));
            if (stands) {
                Target<P> i;
                i.load(particle, a.j);
                sum_as_before<P, JERK>(tile, leaf, i, P::minus_three(a), total[0]);
                stands = are_finite(total[0])
                    && (P::EXACT || reach.loses_nothing(bounds, JERK) || reach.loses_little(total[0], bounds, JERK));
            }
            if (!stands) {
                sum_exactly<JERK>(a, run.place, leaf * LEAF, min((leaf + 1) * LEAF, run.present), particle, total[0]);
                ++count;
            }
        }
        waiting.template join<1, JERK ? SUMS : STILL_SUMS>(leaf - run.begin, leaf + 1 == run.end, depth, total);
    }
    return count;
}
