// Which sums single precision holds: the twin of src/core/cpu/resolution.rs, which has the proofs. A test compares the
// two over the product of all their states.
#pragma once

#include "leaf.cuh"

// In the units of the kernels: the closest pair that split positions can tell, as a part of the
// i-particle's distance from the origin; the closest that single precision can; where it ends.
#define CLOSE (1.0 / 16777216.0)
#define CLOSEST 1e-12
#define FARTHEST 1e8
// A little less than 1, for the rounding of sums.
#define ROUNDING (1.0 - 1.0 / 1024.0)
// The absolute error of m / s^3 by underflow, and the least mass with all its digits, 2^-126; the least m / s^3, and the
// least part of a jerk, of which that is negligible, 2^-99; the ratio of the two.
#define LOST 1.1754943508222875e-38
#define TERM 1.5777218104420236e-30
#define NEGLIGIBLE (1.0 / 134217728.0)
// The most pairs of a leaf, of all backends.
#define PAIRS 512.0
// The greatest distance whose square is in range, beyond which a pair would vanish: 2^60.
#define HORIZON 1152921504606846976.0
// A factor from the greatest component of a vector to its length, and more.
#define DIAGONAL 1.75

// Those of these bounds that depend on the precision of the pairs.
template <class P>
struct Bounds {
    static __device__ __forceinline__ double close() { return CLOSE; }
    static __device__ __forceinline__ double term() { return TERM; }
    static __device__ __forceinline__ double negligible() { return NEGLIGIBLE; }
    static __device__ __forceinline__ double horizon() { return HORIZON; }
};
// In double-single arithmetic a coordinate errs by 2^-47 of its size, which is 2^-38 of the distance of the closest pairs,
// 2^-9; and the low parts, 2^-41 of a term, must not underflow, nor those of 1 / r^2.
template <>
struct Bounds<DoubleSingle> {
    static __device__ __forceinline__ double close() { return 1.0 / 512.0; }
    static __device__ __forceinline__ double term() { return 8.271806125530277e-25; } // 2^-80
    static __device__ __forceinline__ double negligible() { return 1.0 / 4398046511104.0; } // 2^-42
    static __device__ __forceinline__ double horizon() { return 1099511627776.0; } // 2^40
};

// Sources::far: in how many of the spheres of these radii, one inside the other, not all particles of the page with a mass are;
// and a bit that is set if one of them has a velocity component that is not zero, but less than SLOW.
#define SPHERES 3
#define IS_SLOW 4u
#define HAS_BOTH_SIGNS 8u
#define SLOW 9.094947017729282e-13 // 2^-40

__device__ __forceinline__ double sphere(unsigned n)
{
    return n == 0 ? 1024.0 : n == 1 ? 131072.0 : 16777216.0;
}

// What is known of the particles of a leaf: bounds, which need not be sharp.
struct LeafBounds {
    bool one_sign; // no two masses have different signs
    double least_mass; // that is not zero; infinite where there is none
    double radius; // no particle with a mass is farther out, its softening length added
    double fastest; // no component of a velocity is greater
    double slowest; // nor less, but for zeros
};

// Which pairs with an i-particle can be told, in precision P.
template <class P = Mixed>
struct Reach {
    typedef Bounds<P> B;
    bool in_range; // whether single precision has the range for its numbers
    double closest; // the smallest softened distance, or a little more
    double closest2; // the square of the smallest
    double distance; // from the origin at most, the softening length added
    double speed; // its greatest component

    __device__ __forceinline__ Reach(const IRecord& i, double length, double velocity, bool split)
    {
        double x[3];
        speed = 0.0;
        for (int k = 0; k < 3; ++k) {
            x[k] = fabs(__dmul_rn(i.x[k], length));
            speed = fmax(speed, fabs(__dmul_rn(i.v[k], velocity)));
        }
        const double eps2 = __dmul_rn(i.eps2, __dmul_rn(length, length));
        const double norm2 = __dadd_rn(__dadd_rn(__dmul_rn(x[0], x[0]), __dmul_rn(x[1], x[1])), __dmul_rn(x[2], x[2]));
        const double norm = __dadd_rn(__dadd_rn(x[0], x[1]), x[2]);
        const double close = split ? B::close() : 0.0;
        in_range = norm2 <= FARTHEST * FARTHEST && eps2 <= FARTHEST * FARTHEST;
        closest = fmax(__dmul_rn(close, norm), CLOSEST);
        closest2 = fmax(__dmul_rn(close * close, norm2), CLOSEST * CLOSEST);
        distance = __dadd_rn(norm, __dsqrt_rn(fmax(eps2, 0.0)));
    }

    __device__ __forceinline__ double greatest_distance(const LeafBounds& bounds) const
    {
        return fmax(__dadd_rn(distance, bounds.radius), 1.0);
    }

    // Whether no term can underflow.
    __device__ __forceinline__ bool loses_nothing(const LeafBounds& bounds, bool jerk) const
    {
        const double d = greatest_distance(bounds);
        const double least = __dmul_rn(__dmul_rn(__dmul_rn(B::term(), d), d), d);
        const double v = speed == 0.0 ? bounds.slowest : speed;
        return d <= B::horizon() && least <= bounds.least_mass
            && (!jerk || (least <= __dmul_rn(v, bounds.least_mass) && B::term() <= __dmul_rn(v, closest)
                          && __dmul_rn(B::term(), d) <= v));
    }

    // Whether the sums of a leaf show that what underflowed is negligible.
    __device__ __forceinline__ bool loses_little(const double* sums, const LeafBounds& bounds, bool jerk) const
    {
        if (bounds.least_mass == __longlong_as_double(0x7ff0000000000000LL)) {
            return true; // nothing exerts a force
        }
        const double d = greatest_distance(bounds);
        if (!(d <= B::horizon())) {
            return false;
        }
        const double potential = fabs(sums[3]);
        const bool no_mass_lost = __dmul_rn(__dmul_rn(__dmul_rn(B::term(), d), d), d) <= bounds.least_mass;
        // Without a potential there is no mass but the i-particle's own.
        if (no_mass_lost && potential == 0.0) {
            return true;
        }
        double least = closest;
        if (bounds.one_sign) {
            least = fmax(least, __ddiv_rn(__dmul_rn(bounds.least_mass, ROUNDING), potential));
        }
        const double inverse = __ddiv_rn(1.0, __dmul_rn(__dmul_rn(least, least), least));
        // A mass itself loses digits; at a small distance that counts more.
        const double per_pair = bounds.least_mass < LOST ? __dmul_rn(PAIRS * LOST, fmax(inverse, 1.0)) : PAIRS * LOST;
        const double enough = __dmul_rn(B::negligible(), potential);
        const bool acc = no_mass_lost || __dmul_rn(__dmul_rn(per_pair, d), d) <= enough;
        const double v = __dadd_rn(speed, bounds.fastest);
        if (!jerk || v == 0.0) {
            return acc;
        }
        // Of m (v - 3 (r.v) r / r^2) / r^3: of the factor, of the product, and of r.v.
        const double lost = __dadd_rn(__dmul_rn(per_pair, __dadd_rn(__dmul_rn(4.0, v), 1.0)),
                                      __dmul_rn(__dmul_rn(3.0 * LOST, potential), inverse));
        const double found = fmax(fmax(fabs(sums[4]), fabs(sums[5])), fabs(sums[6]));
        return acc && lost <= __dmul_rn(B::negligible(), found);
    }
};

// The part of a page that one thread sums.
template <class P>
struct Run {
    unsigned place; // of the page in device memory
    unsigned position; // in `order`
    int begin; // leaves
    int end;
    int present; // slots below nj
    bool mask; // whether the label of an i-particle may be among those of the page
    typename P::Number least_mass; // of the page
    unsigned known; // of the page: Sources::far, and HAS_BOTH_SIGNS

    // What the page's information tells.
    __device__ __forceinline__ void learn(const PageInfo& page, unsigned far)
    {
        least_mass = P::round(page.least_mass);
        known = far | (page.flags & PAGE_HAS_BOTH_SIGNS ? HAS_BOTH_SIGNS : 0);
    }
    __device__ __forceinline__ bool one_sign() const { return !(known & HAS_BOTH_SIGNS); }
    __device__ __forceinline__ bool is_slow() const { return known & IS_SLOW; }
    // As LeafBounds::radius.
    __device__ __forceinline__ typename P::Number radius() const
    {
        const unsigned outside = known & (IS_SLOW - 1);
        return outside == SPHERES ? P::infinity() : (typename P::Number)(DIAGONAL * sphere(outside));
    }
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

// Whether the joined sums of a run, and the greatest potential of its leaves, prove that Reach finds nothing wrong with
// any of its leaves: what is finite, has no close pair and loses nothing. In single precision, so everything has a margin.
template <class P, bool JERK>
__device__ __forceinline__ bool prove_every_pair(const Run<P>& run, const Target<P>& i, typename P::Number greatest,
                                                 const double* sums)
{
    typedef typename P::Number Number;
    typedef Bounds<P> B;
    if (P::EXACT) {
        return are_finite(sums);
    }
    // No less than the distance from the origin.
    const Number distance = P::add(P::add(P::magnitude(i.x[0]), P::magnitude(i.x[1])), P::magnitude(i.x[2]));
    const Number told = P::SPLIT ? P::greatest(P::mul(distance, (Number)B::close()), (Number)CLOSEST) : (Number)CLOSEST;
    // Both 1 + eps^2 and eps^2 / (2 c) + c / 2 are more than the softening length, for any c.
    const Number softening = P::least(P::add(i.eps2, (Number)2), P::add(P::mul(i.eps2, (Number)(1.0 / 16384.0)), (Number)4097));
    const Number d = P::add(P::add(distance, run.radius()), softening);
    const Number term = (Number)(2.0 * B::term());
    const Number least = P::mul(P::mul(P::mul(term, d), d), d);
    if (!(least <= run.least_mass)) {
        return false;
    }
    if (JERK) {
        const Number speed
            = P::greatest(P::greatest(P::magnitude(i.v[0]), P::magnitude(i.v[1])), P::magnitude(i.v[2]));
        const Number v = speed != 0 ? speed : run.is_slow() ? 0 : (Number)SLOW;
        if (!(least <= P::mul(v, run.least_mass) && term <= P::mul(v, told) && P::mul(term, d) <= v)) {
            return false;
        }
    }
    return are_finite(sums) && run.one_sign() && distance <= (Number)FARTHEST && i.eps2 <= (Number)(FARTHEST * FARTHEST)
        && P::mul(greatest, told) <= P::mul(run.least_mass, (Number)ROUNDING);
}

// What is to be known of a leaf. Returns whether it has a massive particle that is too close to be told.
template <class P>
__device__ __forceinline__ bool look_at_leaf(const Run<P>& run, const Tile<P>& tile, int leaf, const IRecord& particle,
                                             const Sources& sources, const Reach<P>& reach, LeafBounds& bounds)
{
    // Here, and forgotten behind the loop: there are no registers to keep it.
    Target<P> i;
    i.load(particle, sources);
    const double infinity = __longlong_as_double(0x7ff0000000000000LL);
    bool positive = false, negative = false, close = false;
    // Here a mass and a velocity that are too small for single precision look like zero.
    bounds.least_mass = run.least_mass < (typename P::Number)(2.0 * LOST) ? 0.0 : infinity;
    bounds.slowest = run.is_slow() ? 0.0 : infinity;
    bounds.radius = 0.0;
    bounds.fastest = run.is_slow() ? SLOW : 0.0;
#pragma unroll 1
    for (int n = 0; n < LEAF; ++n) {
        const typename P::Vector j = tile.at[0][leaf][n];
        const typename P::Vector jv = tile.at[1][leaf][n];
        const typename P::Vector jlow = tile.at[P::SPLIT ? 2 : 1][leaf][n];
        if (j.w == 0) {
            continue;
        }
        positive = positive || j.w > 0;
        negative = negative || j.w < 0;
        bounds.least_mass = fmin(bounds.least_mass, fabs((double)j.w));
        const double x[3] = {fabs((double)j.x), fabs((double)j.y), fabs((double)j.z)};
        const double v[3] = {fabs((double)jv.x), fabs((double)jv.y), fabs((double)jv.z)};
        for (int k = 0; k < 3; ++k) {
            bounds.radius = fmax(bounds.radius, DIAGONAL * x[k]);
            bounds.fastest = fmax(bounds.fastest, v[k]);
            bounds.slowest = v[k] > 0.0 ? fmin(bounds.slowest, v[k]) : bounds.slowest;
        }
        close = close || (P::label(jv.w) != i.label && (double)Separation<P>(j, jlow, i).r2 < reach.closest2);
    }
    bounds.one_sign = !(positive && negative);
    keep_in_memory(&bounds);
    return close;
}
