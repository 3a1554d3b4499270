// One leaf in the precision of the pairs: the pair loop, and what it goes through.
#pragma once

#include "double_single.cuh"

// How a kernel goes through the pairs of a page. UNROLL j-particles are unrolled. With ROWS the rows of a thread block share
// the leaves of a page. With AHEAD the roots of all unrolled pairs come before the first sum.
template <int UNROLLED, bool SHARED, bool FIRST>
struct Way {
    enum { UNROLL = UNROLLED, ROWS = SHARED, AHEAD = FIRST };
};

// 1 / r of a pair, or 0 for an i-particle and itself.
template <class P, bool NEAREST, bool MASK>
__device__ __forceinline__ typename P::Number inverse_distance(const Separation<P>& pair, const typename P::Vector& jv,
                                                               const Target<P>& i, typename P::Number* least)
{
    typename P::Number r2 = pair.r2;
    if (MASK) {
        // From infinitely far away nothing is felt, and nobody is near.
        r2 = P::label(jv.w) == i.label ? P::infinity() : r2;
    }
    if (NEAREST) {
        *least = P::least(*least, r2);
    }
    return P::rsqrt(r2);
}

// Adds one pair to the sums of an i-particle. A pair at no distance without softening makes the sums infinite or not a
// number.
template <class P, bool JERK>
__device__ __forceinline__ void add_pair(const typename P::Vector& j, const typename P::Vector& jv, const Target<P>& i,
                                         const Separation<P>& pair, typename P::Number inverse,
                                         typename P::Number minus_three, typename P::Number* s)
{
    typedef typename P::Number Number;
    const Number x = pair.x, y = pair.y, z = pair.z;
    const Number inverse2 = P::mul(inverse, inverse);
    const Number m_r = P::mul(j.w, inverse);
    const Number m_r3 = P::mul(m_r, inverse2);
    s[0] = P::fma(m_r3, x, s[0]);
    s[1] = P::fma(m_r3, y, s[1]);
    s[2] = P::fma(m_r3, z, s[2]);
    s[3] = P::add(s[3], m_r);
    if (JERK) {
        const Number vx = P::sub(jv.x, i.v[0]);
        const Number vy = P::sub(jv.y, i.v[1]);
        const Number vz = P::sub(jv.z, i.v[2]);
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

// Adds the pairs of one run of j-particles, which begins at `at`: the roots of W::UNROLL j-particles, then their sums. No
// i-particle is among the j-particles.
template <class P, bool JERK, bool NEAREST, int R, class W>
__device__ __forceinline__ void add_run_ahead(const typename P::Vector* at, const Target<P>* i,
                                              typename P::Number minus_three, typename P::Number (*sums)[P::PARTS],
                                              typename P::Number* least)
{
    typedef typename P::Vector Vector;
    const int each = LEAVES * (LEAF + 1);
#pragma unroll 1
    for (int n = 0; n < P::RUN; n += W::UNROLL, at += W::UNROLL) {
        typename P::Number inverse[W::UNROLL][R];
#pragma unroll
        for (int u = 0; u < W::UNROLL; ++u) {
            const Vector jlow = at[(P::SPLIT ? 2 : 1) * each + u];
#pragma unroll
            for (int r = 0; r < R; ++r) {
                const Separation<P> pair(at[u], jlow, i[r]);
                inverse[u][r] = inverse_distance<P, NEAREST, false>(pair, at[each + u], i[r], least + r);
            }
        }
#pragma unroll
        for (int u = 0; u < W::UNROLL; ++u) {
            const Vector jlow = at[(P::SPLIT ? 2 : 1) * each + u];
#pragma unroll
            for (int r = 0; r < R; ++r) {
                const Separation<P> pair(at[u], jlow, i[r]);
                add_pair<P, JERK>(at[u], at[each + u], i[r], pair, inverse[u][r], minus_three, sums[r]);
            }
        }
    }
}

// The same, one pair after the other.
template <class P, bool JERK, bool NEAREST, bool MASK, int R, int UNROLL>
__device__ __forceinline__ void add_run(const typename P::Vector* at, const Target<P>* i,
                                        typename P::Number minus_three, typename P::Number (*sums)[P::PARTS],
                                        typename P::Number* least)
{
    typedef typename P::Vector Vector;
    const int each = LEAVES * (LEAF + 1);
#pragma unroll UNROLL
    for (int n = 0; n < P::RUN; ++n, ++at) {
        const Vector j = at[0];
        const Vector jv = at[each];
        const Vector jlow = at[(P::SPLIT ? 2 : 1) * each];
#pragma unroll
        for (int r = 0; r < R; ++r) {
            if constexpr (P::PARTS > SUMS) {
                add_pair_of_pairs<JERK, NEAREST, MASK>(j, jv, jlow, i[r], sums[r], least + r);
            } else {
                const Separation<P> pair(j, jlow, i[r]);
                const typename P::Number inverse = inverse_distance<P, NEAREST, MASK>(pair, jv, i[r], least + r);
                add_pair<P, JERK>(j, jv, i[r], pair, inverse, minus_three, sums[r]);
            }
        }
    }
}
