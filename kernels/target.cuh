// What a pair loop reads, and the distance of a pair, in the numbers of a precision.
#pragma once

#include "precision.cuh"

// An i-particle in the numbers of the pair loop.
template <class P>
struct Target {
    typename P::Number x[3];
    typename P::Number low[3];
    typename P::Number v[3];
    typename P::Number eps2;
    typename P::Number eps2_low;
    int label;

    __device__ __forceinline__ void load(const IRecord& i, const Sources& j)
    {
        for (int k = 0; k < 3; ++k) {
            const double scaled = __dmul_rn(i.x[k], j.length);
            x[k] = P::round(scaled);
            low[k] = P::SPLIT ? P::round(__dsub_rn(scaled, (double)x[k])) : 0;
            v[k] = P::round_from_zero(__dmul_rn(i.v[k], j.velocity));
        }
        const double scaled2 = __dmul_rn(i.eps2, __dmul_rn(j.length, j.length));
        eps2 = P::round(scaled2);
        eps2_low = P::SPLIT ? P::round(__dsub_rn(scaled2, (double)eps2)) : 0;
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
