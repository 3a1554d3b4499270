// NBODY6's regular force on a block of targets, and the potential: sources that may be neighbours are left out of the
// pair loop, and so are those too close for it; a bit tells which. regular_decide.cuh does the rest.
//
// A thread block has `columns` x `rows` = FORCE_THREADS threads and one page of sources. A thread has R targets
// (columns apart); the rows share the leaves of the page. Sums of a page follow the binary tree of its leaves, and what
// is left out depends on the target and the page alone: no result depends on the division of the work.
#pragma once

#include "join.cuh"
#include "leaf.cuh"
#include "regular_layout.cuh"

#define REGULAR_THREADS 128
#define PREPARE_THREADS 256
// Sources that are unrolled.
#define REGULAR_UNROLLED(R) (R == 1 ? 8 : 4)

// Beyond these single precision has not the range for sources (src/core/force/scaling.rs has the same).
#define LARGEST_LENGTH 16777216.0f
#define LARGEST_VELOCITY 16777216.0f

// Makes the tile of a page: the numbers of the pair loop. One thread block a page.
template <class P>
__device__ __forceinline__ void prepare(const RegularArgs& a)
{
    __shared__ int farthest; // bits of numbers that are not negative are in their order
    __shared__ int fastest;
    const double* columns = a.columns + (size_t)blockIdx.x * (SOURCE_COLUMNS * PAGE);
    typename P::Vector* to = (typename P::Vector*)a.tiles + (size_t)blockIdx.x * (P::VECTORS * PAGE);
    RegularPage& info = a.info[blockIdx.x];
    if (threadIdx.x == 0) {
        farthest = fastest = 0;
    }
    __syncthreads();
    for (int s = threadIdx.x; s < PAGE; s += PREPARE_THREADS) {
        double x[3], v[3];
        int far = 0, fast = 0;
        for (int k = 0; k < 3; ++k) {
            x[k] = columns[k * PAGE + s];
            v[k] = columns[(3 + k) * PAGE + s];
            far = max(far, __float_as_int(fabsf(__double2float_rn(x[k]))));
            fast = max(fast, __float_as_int(fabsf(__double2float_rn(v[k]))));
        }
        atomicMax(&farthest, far);
        atomicMax(&fastest, fast);
        P::store(to, s, x, v, __dmul_rn(columns[6 * PAGE + s], info.mass_inverse), 0);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        info.fastest = __int_as_float(fastest);
        const bool in_range = __int_as_float(farthest) <= LARGEST_LENGTH && __int_as_float(fastest) <= LARGEST_VELOCITY;
        info.is_told = info.is_told && (P::EXACT || in_range);
    }
}

// A target in the numbers of the pair loop, and with what it compares the sources of a page.
template <class P, bool POTENTIAL>
struct Seen {
    Target<P> target;
    typename P::Number twice_dtr;
    bool is_far; // whether something may move farther than the neighbour radius in dtr
    typename P::Number h2; // for each unit of mass of the tile
    typename P::Number bound; // beyond which, and the mass times h2, a source is added

    __device__ __forceinline__ void load(const RegularArgs& a, unsigned which, const RegularPage& page)
    {
        const RegularTarget& i = a.targets[which];
        for (int k = 0; k < 3; ++k) {
            target.x[k] = P::round(i.x[k]);
            target.low[k] = P::SPLIT ? P::round(__dsub_rn(i.x[k], (double)target.x[k])) : 0;
            target.v[k] = P::round(i.v[k]);
        }
        target.eps2 = 0;
        target.label = 0;
        twice_dtr = P::round(__dmul_rn(2.0, i.dtr));
        // `fastest` is that of a component.
        const double way = __dmul_rn(i.dtr, __fma_rn(2.0, page.fastest, i.speed));
        const double way2 = __dmul_rn(way, way);
        is_far = !POTENTIAL && !(way2 <= (a.by_mass ? __dmul_rn(i.h2, page.mass_unit) : i.h2));
        const double error = __fma_rn(i.error_of_speed, page.fastest, i.error);
        const double h2_more = __dmul_rn(i.h2, a.doubt);
        const double constant = __fma_rn(is_far ? 0.0 : way2, a.on_the_way, __fma_rn(__dmul_rn(error, error), a.absolute, i.closest2));
        h2 = P::round(a.by_mass ? __dmul_rn(h2_more, page.mass_unit) : 0.0);
        // Not less by rounding.
        const double least = __dmul_rn(a.by_mass ? constant : __dadd_rn(constant, h2_more), 1.0 + 1.0 / 4194304.0);
        bound = P::round(page.is_told ? least : __longlong_as_double(0x7ff8000000000000LL));
    }
};

// Adds the pairs of WORD sources, the first of which is at `at`, but for those whose bits are set in `words`.
template <class P, bool POTENTIAL, bool FAR, int R, int UNROLL>
__device__ __forceinline__ void add_beyond(const typename P::Vector* at, const Seen<P, POTENTIAL>* i,
                                           typename P::Number minus_three, typename P::Number (*sums)[SUMS],
                                           unsigned* words)
{
    typedef typename P::Number Number;
    typedef typename P::Vector Vector;
    const int each = LEAVES * (LEAF + 1);
    unsigned bit = 1;
#pragma unroll
    for (int r = 0; r < R; ++r) {
        words[r] = 0;
    }
#pragma unroll UNROLL
    for (int n = 0; n < WORD; ++n, ++at, bit <<= 1) {
        const Vector j = at[0];
        const Vector jv = at[POTENTIAL ? 0 : each];
        const Vector jlow = at[(P::SPLIT ? 2 : 1) * each];
#pragma unroll
        for (int r = 0; r < R; ++r) {
            const Separation<P> pair(j, jlow, i[r].target);
            const Number x = pair.x, y = pair.y, z = pair.z;
            Number* s = sums[r];
            if (POTENTIAL) {
                const bool beyond = pair.r2 >= i[r].bound;
                words[r] |= beyond ? 0 : bit;
                s[3] = P::fma(j.w, beyond ? P::rsqrt(pair.r2) : 0, s[3]);
                continue;
            }
            const Number vx = P::sub(jv.x, i[r].target.v[0]);
            const Number vy = P::sub(jv.y, i[r].target.v[1]);
            const Number vz = P::sub(jv.z, i[r].target.v[2]);
            Number rv = P::mul(x, vx);
            rv = P::fma(y, vy, rv);
            rv = P::fma(z, vz, rv);
            // Less than |r + dtr v|^2, for one operation instead of six.
            Number ahead2 = P::fma(i[r].twice_dtr, rv, pair.r2);
            if (FAR) {
                const Number dtr = P::mul(i[r].twice_dtr, (Number)0.5);
                const Number ax = P::fma(dtr, vx, x);
                const Number ay = P::fma(dtr, vy, y);
                const Number az = P::fma(dtr, vz, z);
                const Number exact2 = P::fma(az, az, P::fma(ay, ay, P::mul(ax, ax)));
                ahead2 = i[r].is_far ? exact2 : ahead2;
            }
            const Number bound = P::fma(j.w, i[r].h2, i[r].bound);
            // If it is no number, the bound is none or infinite.
            const bool beyond = P::least(pair.r2, ahead2) >= bound;
            words[r] |= beyond ? 0 : bit;
            // From infinitely far away nothing is felt.
            const Number inverse = P::rsqrt(beyond ? pair.r2 : P::infinity());
            const Number inverse2 = P::mul(inverse, inverse);
            const Number m_r = P::mul(j.w, inverse);
            const Number m_r3 = P::mul(m_r, inverse2);
            s[0] = P::fma(m_r3, x, s[0]);
            s[1] = P::fma(m_r3, y, s[1]);
            s[2] = P::fma(m_r3, z, s[2]);
            s[3] = P::add(s[3], m_r);
            // -3 (r.v) / r^2 is formed first: m / r^5 could overflow.
            rv = P::mul(P::mul(rv, minus_three), inverse2);
            s[4] = P::fma(m_r3, P::fma(rv, x, vx), s[4]);
            s[5] = P::fma(m_r3, P::fma(rv, y, vy), s[5]);
            s[6] = P::fma(m_r3, P::fma(rv, z, vz), s[6]);
        }
    }
}

template <class P, bool POTENTIAL, int R>
__device__ __forceinline__ void regular(const RegularArgs& a)
{
    typedef typename P::Number Number;
    typedef typename P::Vector Vector;
    __shared__ Tile<P> tile;
    const int columns = blockDim.x, rows = R == 1 ? blockDim.y : 1;
    const int column = threadIdx.x, row = R == 1 ? threadIdx.y : 0;
    const int thread = row * columns + column;
    const unsigned place = blockIdx.x;
    const RegularPage page = a.info[place];
    const unsigned long long first = (unsigned long long)place * PAGE;
    const int present = a.sources - first < PAGE ? (int)(a.sources - first) : PAGE;

    const Vector* from = (const Vector*)a.tiles + (size_t)place * (P::VECTORS * PAGE);
#pragma unroll
    for (int vector = 0; vector < P::VECTORS; ++vector) {
#pragma unroll
        for (int turn = 0; turn < PAGE / REGULAR_THREADS; ++turn) {
            const int s = turn * REGULAR_THREADS + thread;
            tile.at[vector][s / LEAF][s % LEAF] = from[vector * PAGE + s];
        }
    }
    Seen<P, POTENTIAL> i[R];
    unsigned which[R];
    bool is_far = false;
#pragma unroll
    for (int r = 0; r < R; ++r) {
        which[r] = (blockIdx.y * R + r) * columns + column;
        i[r].load(a, min(which[r], a.ni - 1), page);
        is_far = is_far || i[r].is_far;
    }
    // Which of the loops is taken changes no bit.
    const bool far = __syncthreads_or(is_far);

    const int begin = row * (LEAVES / rows), end = begin + LEAVES / rows;
    const Number minus_three = P::EXACT ? (Number)-3.0 : (Number)a.minus_three;
    Waiting<P, R> waiting;
    double total[R][SUMS];
    int depth = 0;
    for (int leaf = begin; leaf < end; ++leaf) {
        Number sums[R][SUMS];
        unsigned words[2][R] = {};
#pragma unroll 1
        for (int half = 0; half < LEAF / WORD; ++half) {
            if (half == 0 || P::RUN == WORD) {
#pragma unroll
                for (int r = 0; r < R; ++r) {
#pragma unroll
                    for (int c = 0; c < SUMS; ++c) {
                        sums[r][c] = 0;
                    }
                }
            }
            unsigned some[R];
#pragma unroll
            for (int r = 0; r < R; ++r) {
                some[r] = 0;
            }
            if (leaf * LEAF < present) {
                const Vector* at = tile.at[0][leaf] + half * WORD;
                if (far) {
                    add_beyond<P, POTENTIAL, !POTENTIAL, R, REGULAR_UNROLLED(R)>(at, i, minus_three, sums, some);
                } else {
                    add_beyond<P, POTENTIAL, false, R, REGULAR_UNROLLED(R)>(at, i, minus_three, sums, some);
                }
            }
            if (half == 0) {
#pragma unroll
                for (int r = 0; r < R; ++r) {
                    words[0][r] = some[r];
                    if (P::RUN == WORD) {
#pragma unroll
                        for (int c = 0; c < SUMS; ++c) {
                            waiting.first_run[r][c] = sums[r][c];
                        }
                    }
                }
                keep_in_memory(waiting.first_run);
            } else {
#pragma unroll
                for (int r = 0; r < R; ++r) {
                    words[1][r] = some[r];
                }
            }
        }
#pragma unroll
        for (int r = 0; r < R; ++r) {
            Number all = 0;
#pragma unroll
            for (int c = 0; c < SUMS; ++c) {
                sums[r][c] = P::RUN == WORD ? P::add(waiting.first_run[r][c], sums[r][c]) : sums[r][c];
                all = P::add(all, P::magnitude(sums[r][c]));
            }
            // A leaf of which a sum overflowed is left out as a whole.
            const bool is_finite = all < P::infinity();
#pragma unroll
            for (int c = 0; c < SUMS; ++c) {
                total[r][c] = is_finite ? (double)sums[r][c] : 0.0;
            }
            if (which[r] < a.ni) {
                uint2* to = (uint2*)a.words + ((size_t)which[r] * a.pages + place) * (WORDS / 2) + leaf;
                *to = make_uint2(is_finite ? words[0][r] : ~0u, is_finite ? words[1][r] : ~0u);
            }
        }
        waiting.template join<R, SUMS>(leaf - begin, leaf + 1 == end, depth, total);
    }
#pragma unroll
    for (int c = 0; c < SUMS; ++c) {
        double* to = a.sums + ((size_t)(place * rows + row) * SUMS + c) * a.ni;
#pragma unroll
        for (int r = 0; r < R; ++r) {
            if (which[r] < a.ni) {
                to[which[r]] = total[r][c];
            }
        }
    }
}

// All kernels of one precision, as FORCE_KERNELS.
#define REGULAR_KERNELS(Precision, name, blocks, blocks_of_four)                                    \
    KERNEL(prepare_##name, RegularArgs, PREPARE_THREADS) { prepare<Precision>(a); }                 \
    CROWDED_KERNEL(regular_##name##_1, RegularArgs, REGULAR_THREADS, blocks)                        \
    { regular<Precision, false, 1>(a); }                                                            \
    CROWDED_KERNEL(regular_##name##_4, RegularArgs, REGULAR_THREADS, blocks_of_four)                \
    { regular<Precision, false, 4>(a); }                                                            \
    CROWDED_KERNEL(potential_##name##_1, RegularArgs, REGULAR_THREADS, blocks)                      \
    { regular<Precision, true, 1>(a); }                                                             \
    CROWDED_KERNEL(potential_##name##_4, RegularArgs, REGULAR_THREADS, blocks_of_four)              \
    { regular<Precision, true, 4>(a); }
