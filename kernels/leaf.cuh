// One leaf in the precision of the pairs: the pair loop, and what it goes through.
#pragma once

#include "precision.cuh"

// An i-particle in the numbers of the pair loop.
template <class P>
struct Target {
    typename P::Number x[3];
    typename P::Number low[3];
    typename P::Number v[3];
    typename P::Number eps2;
    int label;

    __device__ __forceinline__ void load(const IRecord& i, const Sources& j)
    {
        for (int k = 0; k < 3; ++k) {
            const double scaled = __dmul_rn(i.x[k], j.length);
            x[k] = P::round(scaled);
            low[k] = P::SPLIT ? P::round(__dsub_rn(scaled, (double)x[k])) : 0;
            v[k] = P::round_from_zero(__dmul_rn(i.v[k], j.velocity));
        }
        eps2 = P::round(__dmul_rn(i.eps2, __dmul_rn(j.length, j.length)));
        label = (int)i.label;
    }
};

// The j-particles of a page. The unused last entry of each leaf keeps rows that read the same
// place of different leaves from meeting in one bank.
template <class P>
struct Tile {
    typename P::Vector at[P::VECTORS][LEAVES][LEAF + 1];
};

// x_j - x_i and the softened r^2 of a pair.
template <class P>
struct Separation {
    typename P::Number x, y, z, r2;

    __device__ __forceinline__ Separation(const typename P::Vector& j, const typename P::Vector& jlow, const Target<P>& i)
    {
        x = P::sub(j.x, i.x[0]);
        y = P::sub(j.y, i.x[1]);
        z = P::sub(j.z, i.x[2]);
        if (P::SPLIT) {
            x = P::add(x, P::sub(jlow.x, i.low[0]));
            y = P::add(y, P::sub(jlow.y, i.low[1]));
            z = P::add(z, P::sub(jlow.z, i.low[2]));
        }
        r2 = P::fma(x, x, i.eps2);
        r2 = P::fma(y, y, r2);
        r2 = P::fma(z, z, r2);
    }
};

// Adds the pairs of one run of j-particles, which begins at `at`. A pair at no distance without softening makes the
// sums infinite or not a number.
template <class P, bool JERK, bool NEAREST, bool MASK, int R, int UNROLL>
__device__ __forceinline__ void add_run(const typename P::Vector* at, const Target<P>* i,
                                        typename P::Number minus_three, typename P::Number (*sums)[SUMS],
                                        typename P::Number* least)
{
    typedef typename P::Number Number;
    typedef typename P::Vector Vector;
    const int each = LEAVES * (LEAF + 1);
#pragma unroll UNROLL
    for (int n = 0; n < P::RUN; ++n, ++at) {
        const Vector j = at[0];
        const Vector jv = at[each];
        const Vector jlow = at[(P::SPLIT ? 2 : 1) * each];
#pragma unroll
        for (int r = 0; r < R; ++r) {
            const Separation<P> pair(j, jlow, i[r]);
            const Number x = pair.x, y = pair.y, z = pair.z;
            Number r2 = pair.r2;
            if (MASK) {
                // From infinitely far away nothing is felt, and nobody is near.
                r2 = P::label(jv.w) == i[r].label ? P::infinity() : r2;
            }
            if (NEAREST) {
                least[r] = P::least(least[r], r2);
            }
            const Number inverse = P::rsqrt(r2);
            const Number inverse2 = P::mul(inverse, inverse);
            const Number m_r = P::mul(j.w, inverse);
            const Number m_r3 = P::mul(m_r, inverse2);
            Number* s = sums[r];
            s[0] = P::fma(m_r3, x, s[0]);
            s[1] = P::fma(m_r3, y, s[1]);
            s[2] = P::fma(m_r3, z, s[2]);
            s[3] = P::add(s[3], m_r);
            if (JERK) {
                const Number vx = P::sub(jv.x, i[r].v[0]);
                const Number vy = P::sub(jv.y, i[r].v[1]);
                const Number vz = P::sub(jv.z, i[r].v[2]);
                Number rv = P::mul(x, vx);
                rv = P::fma(y, vy, rv);
                rv = P::fma(z, vz, rv);
                // -3 (r.v) / r^2 is formed first: m / r^5 could overflow.
                rv = P::mul(P::mul(rv, minus_three), inverse2);
                s[4] = P::fma(m_r3, P::fma(rv, x, vx), s[4]);
                s[5] = P::fma(m_r3, P::fma(rv, y, vy), s[5]);
                s[6] = P::fma(m_r3, P::fma(rv, z, vz), s[6]);
            }
        }
    }
}
