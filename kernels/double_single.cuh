// Pairs of particles in double-single arithmetic: a number is the sum of two floats, the second of which is what the first
// leaves (Dekker 1971; Thall 2006 has it for GPUs). Acceleration and potential are computed so, the jerk in float.
//
// With y the approximate root of 1 / r^2 the vector u = r y is close to a unit vector. What its length lacks,
// e = 1 - r^2 y^2, is known to 2^-45, and corrects every power of y: (1 - e)^(-1/2) for the potential, (1 - e)^(-3/2) for
// the force. So the error of the hardware's root drops out, and no square of a distance needs a low part.
#pragma once

#include "target.cuh"

// A coordinate of x_j - x_i: `greater` + `lesser`, whose sum rounds to `rounded`. `lesser` is 2^-14 of the distance at most,
// unless the leaf is summed again.
struct Coordinate {
    float greater;
    float lesser;
    float rounded;

    __device__ __forceinline__ Coordinate(float j, float j_low, float i, float i_low)
    {
        typedef Float F;
        greater = F::sub(j, i);
        const float back = F::sub(greater, j);
        const float lost = F::sub(F::sub(j, F::sub(greater, back)), F::add(i, back));
        lesser = F::add(F::sub(j_low, i_low), lost);
        rounded = F::add(greater, lesser);
    }
};

// A coordinate in units of the distance, as a float and what it leaves.
struct Part {
    float high;
    float low;

    __device__ __forceinline__ Part(const Coordinate& x, float inverse)
    {
        typedef Float F;
        high = F::mul(x.rounded, inverse);
        low = F::fma(x.lesser, inverse, F::fma(x.greater, inverse, -high));
    }
};

// Adds a b to `sum`, which exceeds it; returns what rounding loses.
__device__ __forceinline__ float add_to_greater(float& sum, float a, float b)
{
    typedef Float F;
    const float before = sum;
    sum = F::fma(a, b, before);
    return F::fma(a, b, -F::sub(sum, before));
}

// Adds a b, which is about `product`, to the sum, whose low part takes what rounding loses. The sum takes the rounded
// product: where a fused one cancels the sum, what is lost is no float.
__device__ __forceinline__ void add_product(float& sum, float& low, float product, float a, float b)
{
    typedef Float F;
    const float before = sum;
    sum = F::add(before, product);
    const float added = F::sub(sum, before);
    low = F::add(low, F::sub(before, F::sub(sum, added)));
    low = F::add(low, F::fma(a, b, -added));
}

// add_pair in double-single arithmetic.
template <bool JERK, bool NEAREST, bool MASK>
__device__ __forceinline__ void add_pair_of_pairs(const float4& j, const float4& jv, const float4& jlow,
                                                  const Target<DoubleSingle>& i, float* s, float* least)
{
    typedef Float F;
    const Coordinate x(j.x, jlow.x, i.x[0], i.low[0]);
    const Coordinate y(j.y, jlow.y, i.x[1], i.low[1]);
    const Coordinate z(j.z, jlow.z, i.x[2], i.low[2]);
    float r2 = F::fma(x.rounded, x.rounded, i.eps2);
    r2 = F::fma(z.rounded, z.rounded, F::fma(y.rounded, y.rounded, r2));
    if (MASK) {
        r2 = F::label(jv.w) == i.label ? F::infinity() : r2;
    }
    if (NEAREST) {
        *least = F::least(*least, r2);
    }
    const float inverse = F::rsqrt(r2);
    const float inverse2 = F::mul(inverse, inverse);
    const float inverse2_low = F::fma(inverse, inverse, -inverse2);
    const Part ux(x, inverse), uy(y, inverse), uz(z, inverse);

    // Squares of at most 1, added to 2: what rounding loses is known at once.
    float length = 2.0f;
    float lost = add_to_greater(length, ux.high, ux.high);
    lost = F::add(lost, add_to_greater(length, uy.high, uy.high));
    lost = F::add(lost, add_to_greater(length, uz.high, uz.high));
    lost = F::add(lost, add_to_greater(length, i.eps2, inverse2));
    lost = F::fma(i.eps2, inverse2_low, F::fma(i.eps2_low, inverse2, lost));
    const float mixed = F::fma(uz.high, uz.low, F::fma(uy.high, uy.low, F::mul(ux.high, ux.low)));
    const float e = F::sub(F::sub(3.0f, length), F::fma(2.0f, mixed, lost));
    const float first = F::mul(e, F::fma(e, 0.375f, 0.5f));
    const float third = F::mul(e, F::fma(e, 1.875f, 1.5f));

    const float m_r = F::mul(j.w, inverse);
    add_product(s[3], s[SUMS + 3], m_r, j.w, inverse);
    s[SUMS + 3] = F::fma(m_r, first, F::fma(jlow.w, inverse, s[SUMS + 3]));

    const float m_r2 = F::mul(j.w, inverse2);
    float m_r2_low = F::fma(j.w, inverse2_low, F::fma(j.w, inverse2, -m_r2));
    m_r2_low = F::fma(m_r2, third, F::fma(jlow.w, inverse2, m_r2_low));
    const Part* u[3] = {&ux, &uy, &uz};
#pragma unroll
    for (int k = 0; k < 3; ++k) {
        add_product(s[k], s[SUMS + k], F::mul(m_r2, u[k]->high), m_r2, u[k]->high);
        s[SUMS + k] = F::fma(m_r2_low, u[k]->high, F::fma(m_r2, u[k]->low, s[SUMS + k]));
    }
    if (JERK) {
        const float vx = F::sub(jv.x, i.v[0]);
        const float vy = F::sub(jv.y, i.v[1]);
        const float vz = F::sub(jv.z, i.v[2]);
        float uv = F::fma(uz.high, vz, F::fma(uy.high, vy, F::mul(ux.high, vx)));
        uv = F::mul(uv, F::fma(e, -3.0f, -3.0f));
        float m_r3 = F::mul(m_r2, inverse);
        m_r3 = F::fma(m_r3, third, m_r3);
        s[4] = F::fma(m_r3, F::fma(uv, ux.high, vx), s[4]);
        s[5] = F::fma(m_r3, F::fma(uv, uy.high, vy), s[5]);
        s[6] = F::fma(m_r3, F::fma(uv, uz.high, vz), s[6]);
    }
}
