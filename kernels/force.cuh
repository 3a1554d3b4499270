// The forces on a block of i-particles: equations 3.3 to 3.5 of the kirin thesis.
//
// A thread block has `columns` x `rows` = FORCE_THREADS threads. A thread has R i-particles (columns apart); the
// rows share the leaves of each page among them, which come through shared memory a page at a time.
// One thread sums one leaf in address order in the precision of the pairs; from there on sums are
// double and follow the binary tree over all addresses, whoever computes which part of it.
#pragma once

#include "join.cuh"
#include "neighbours.cuh"
#include "precision.cuh"

#define FORCE_THREADS 128
// j-particles that are unrolled: enough pairs to overlap, few enough for the instruction cache.
#define UNROLL (R < 4 ? 8 : 4)
// What a leaf of doubtful masses must have of potential, or its terms may have vanished.
#define LEAST_POTENTIAL 1e-9

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
            v[k] = P::round(__dmul_rn(i.v[k], j.velocity));
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

// Adds the pairs of one leaf. A pair at no distance without softening makes the sums infinite or
// not a number: the host decides such i-particles in double precision.
template <class P, bool JERK, bool NEAREST, bool MASK, int R>
__device__ __forceinline__ void add_leaf(const Tile<P>& tile, int leaf, const Target<P>* i,
                                         typename P::Number (*sums)[SUMS], typename P::Number* least)
{
    typedef typename P::Number Number;
    typedef typename P::Vector Vector;
#pragma unroll UNROLL
    for (int n = 0; n < LEAF; ++n) {
        const Vector j = tile.at[0][leaf][n];
        const Vector jv = tile.at[1][leaf][n];
        const Vector jlow = tile.at[P::SPLIT ? 2 : 1][leaf][n];
#pragma unroll
        for (int r = 0; r < R; ++r) {
            Number x = P::sub(j.x, i[r].x[0]);
            Number y = P::sub(j.y, i[r].x[1]);
            Number z = P::sub(j.z, i[r].x[2]);
            if (P::SPLIT) {
                x = P::add(x, P::sub(jlow.x, i[r].low[0]));
                y = P::add(y, P::sub(jlow.y, i[r].low[1]));
                z = P::add(z, P::sub(jlow.z, i[r].low[2]));
            }
            Number r2 = P::fma(x, x, i[r].eps2);
            r2 = P::fma(y, y, r2);
            r2 = P::fma(z, z, r2);
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
                rv = P::mul(P::mul(rv, (Number)-3), inverse2);
                s[4] = P::fma(m_r3, P::fma(rv, x, vx), s[4]);
                s[5] = P::fma(m_r3, P::fma(rv, y, vy), s[5]);
                s[6] = P::fma(m_r3, P::fma(rv, z, vz), s[6]);
            }
        }
    }
}

// What a thread block shares: a page, and in the same memory later what its rows tell each other.
template <class P>
union Shared {
    Tile<P> tile;
    double left[SUMS][FORCE_THREADS];
    Meeting meeting;
};

// Sums on the way up the tree: those of subtrees that wait for their right neighbour.
template <int R>
struct Waiting {
    double sums[3][R][SUMS];
};

// The page's share of one row: its leaves, joined.
template <class P, bool JERK, bool NEAREST, int R>
__device__ __forceinline__ void
sum_leaves(const Tile<P>& tile, int begin, int end, int present, bool mask, bool doubtful,
           unsigned position, const Target<P>* i, double (*total)[SUMS], typename P::Number (*nearest)[2],
           unsigned* where)
{
    typedef typename P::Number Number;
    Waiting<R> waiting;
    int depth = 0;
    for (int leaf = begin; leaf < end; ++leaf) {
        Number sums[R][SUMS];
        Number least[R];
#pragma unroll
        for (int r = 0; r < R; ++r) {
            least[r] = P::infinity();
#pragma unroll
            for (int c = 0; c < SUMS; ++c) {
                sums[r][c] = 0;
            }
        }
        if (leaf * LEAF < present) {
            if (mask) {
                add_leaf<P, JERK, NEAREST, true, R>(tile, leaf, i, sums, least);
            } else {
                add_leaf<P, JERK, NEAREST, false, R>(tile, leaf, i, sums, least);
            }
            if (doubtful) {
#pragma unroll
                for (int r = 0; r < R; ++r) {
                    if (!(P::magnitude(sums[r][3]) >= (Number)LEAST_POTENTIAL)) {
                        sums[r][3] = P::not_a_number(); // and the host takes over
                    }
                }
            }
        }
#pragma unroll
        for (int r = 0; r < R; ++r) {
            if (NEAREST) {
                where[r] = least[r] < nearest[r][0] ? position * LEAVES + leaf : where[r];
                nearest[r][1] = P::least(nearest[r][1], P::greatest(nearest[r][0], least[r]));
                nearest[r][0] = P::least(nearest[r][0], least[r]);
            }
#pragma unroll
            for (int c = 0; c < SUMS; ++c) {
                total[r][c] = sums[r][c];
            }
        }
        for (int complete = leaf - begin; complete & 1; complete >>= 1) {
            --depth;
#pragma unroll
            for (int r = 0; r < R; ++r) {
#pragma unroll
                for (int c = 0; c < SUMS; ++c) {
                    total[r][c] = __dadd_rn(waiting.sums[depth][r][c], total[r][c]);
                }
            }
        }
        if (leaf + 1 < end) {
#pragma unroll
            for (int r = 0; r < R; ++r) {
#pragma unroll
                for (int c = 0; c < SUMS; ++c) {
                    waiting.sums[depth][r][c] = total[r][c];
                }
            }
            ++depth;
        }
    }
}

// Joins what the rows left in shared memory for sum `c` of a column, as the tree does.
__device__ __forceinline__ double join_rows(const double (*left)[FORCE_THREADS], int c, int column, int columns, int rows)
{
    const double* at = left[c] + column;
    if (rows == 2) {
        return __dadd_rn(at[0], at[columns]);
    }
    double s = __dadd_rn(__dadd_rn(at[0], at[columns]), __dadd_rn(at[2 * columns], at[3 * columns]));
    if (rows == 8) {
        at += 4 * columns;
        s = __dadd_rn(s, __dadd_rn(__dadd_rn(at[0], at[columns]), __dadd_rn(at[2 * columns], at[3 * columns])));
    }
    return s;
}

// What turns the sums of a page into the client's units.
struct Factors {
    double acc;
    double pot;
    double jerk;

    __device__ __forceinline__ Factors(double mass_unit, const Sources& j, double time)
    {
        const double m_l = __dmul_rn(mass_unit, j.length);
        acc = __dmul_rn(m_l, j.length);
        pot = -m_l;
        jerk = __dmul_rn(acc, time);
    }
    __device__ __forceinline__ double of(int c) const { return c < 3 ? acc : c == 3 ? pot : jerk; }
};

template <class P, bool JERK, bool NEAREST, int R>
__device__ __forceinline__ void force(const ForceArgs& a)
{
    typedef typename P::Vector Vector;
    static_assert(FORCE_THREADS == NEIGHBOUR_THREADS, "as many as meet");
    __shared__ Shared<P> shared;
    Tile<P>& tile = shared.tile;
    Meeting& meeting = shared.meeting;
    double (*left)[FORCE_THREADS] = shared.left;
    __shared__ int least_label;
    __shared__ int greatest_label;
    __shared__ bool is_last;

    const int columns = blockDim.x, rows = R == 1 ? blockDim.y : 1;
    const int column = threadIdx.x, row = R == 1 ? threadIdx.y : 0;
    const int thread = row * columns + column;
    const unsigned part = blockIdx.y;
    const unsigned begin = (unsigned)((unsigned long long)a.pages * part / a.parts);
    const unsigned end = (unsigned)((unsigned long long)a.pages * (part + 1) / a.parts);

    if (thread == 0) {
        least_label = 0x7fffffff;
        greatest_label = -0x7fffffff - 1;
    }
    __syncthreads();
    Target<P> i[R];
    unsigned which[R];
#pragma unroll
    for (int r = 0; r < R; ++r) {
        which[r] = (blockIdx.x * R + r) * columns + column;
        i[r].load(a.particles[which[r] < a.ni ? which[r] : a.ni - 1], a.j);
        atomicMin(&least_label, i[r].label);
        atomicMax(&greatest_label, i[r].label);
    }
    typename P::Number nearest[R][2];
    unsigned where[R];
#pragma unroll
    for (int r = 0; r < R; ++r) {
        nearest[r][0] = nearest[r][1] = P::infinity();
        where[r] = 0;
    }

    const double time = a.j.length / a.j.velocity;
    const size_t one_sum = (size_t)SUMS * a.ni;
    unsigned depth = a.first_sum[part];
    for (unsigned n = begin; n < end; ++n) {
        const unsigned place = a.order[n];
        const PageInfo page = a.j.pages[place];
        const unsigned long long first = (unsigned long long)page.number * PAGE;
        const int present = a.nj - first < PAGE ? (int)(a.nj - first) : PAGE;
        const Vector* from = (const Vector*)a.j.predicted + (size_t)place * (P::VECTORS * PAGE);

        __syncthreads(); // everybody is done with the page before
#pragma unroll
        for (int vector = 0; vector < P::VECTORS; ++vector) {
#pragma unroll
            for (int turn = 0; turn < PAGE / FORCE_THREADS; ++turn) {
                const int s = turn * FORCE_THREADS + thread;
                tile.at[vector][s / LEAF][s % LEAF] =
                    s < present ? from[vector * PAGE + s] : P::absent(vector);
            }
        }
        __syncthreads();

        const bool mask = page.least_label <= greatest_label && least_label <= page.greatest_label;
        const bool doubtful = !P::EXACT && ((page.flags & PAGE_IS_DOUBTFUL) || a.j.far[place]);
        const int share = LEAVES / rows;
        double total[R][SUMS];
        sum_leaves<P, JERK, NEAREST, R>(tile, row * share, (row + 1) * share, present, mask, doubtful, n, i,
                                        total, nearest, where);
        const unsigned joins = a.joins[n];
        const Factors factors(page.mass_unit, a.j, time);
        depth -= joins;
        if (rows == 1) {
#pragma unroll
            for (int r = 0; r < R; ++r) {
#pragma unroll
                for (int c = 0; c < SUMS; ++c) {
                    total[r][c] = __dmul_rn(total[r][c], factors.of(c));
                }
            }
            double* at = a.sums + (depth + joins) * one_sum;
            for (unsigned back = joins; back > 0; --back) {
                at -= one_sum;
#pragma unroll
                for (int c = 0; c < SUMS; ++c) {
#pragma unroll
                    for (int r = 0; r < R; ++r) {
                        if (which[r] < a.ni) {
                            total[r][c] = __dadd_rn(at[c * a.ni + which[r]], total[r][c]);
                        }
                    }
                }
            }
#pragma unroll
            for (int c = 0; c < SUMS; ++c) {
#pragma unroll
                for (int r = 0; r < R; ++r) {
                    if (which[r] < a.ni) {
                        at[c * a.ni + which[r]] = total[r][c];
                    }
                }
            }
        } else {
            __syncthreads(); // everybody is done with the tile
#pragma unroll
            for (int c = 0; c < SUMS; ++c) {
                left[c][thread] = total[0][c];
            }
            __syncthreads();
            if (which[0] < a.ni) {
                // A row for each sum, as far as there are rows.
                for (int c = row; c < SUMS; c += rows) {
                    double s = __dmul_rn(join_rows(left, c, column, columns, rows), factors.of(c));
                    double* at = a.sums + depth * one_sum + (size_t)c * a.ni + which[0];
                    for (unsigned back = joins; back-- > 0;) {
                        s = __dadd_rn(at[back * one_sum], s);
                    }
                    *at = s;
                }
            }
        }
        ++depth;
    }
    if (NEAREST) {
        if (R == 1) {
            __syncthreads(); // everybody is done with the tile
            meeting.candidates[thread].least = nearest[0][0];
            meeting.candidates[thread].second = nearest[0][1];
            meeting.candidates[thread].leaf = where[0];
            meeting.candidates[thread].unused = 0;
            meet(meeting.candidates, thread, columns, rows, take_candidate);
        }
#pragma unroll
        for (int r = 0; r < R; ++r) {
            if (row == 0 && which[r] < a.ni) {
                const size_t at = (size_t)part * a.ni + which[r];
                a.least[at] = R == 1 ? meeting.candidates[column].least : nearest[r][0];
                a.second[at] = R == 1 ? meeting.candidates[column].second : nearest[r][1];
                a.leaf[at] = R == 1 ? meeting.candidates[column].leaf : where[r];
            }
        }
    }
    // The last of the blocks that share the i-particles makes the results: one launch fewer. Blocks with
    // several i-particles a thread leave too much for one of them.
    if (R == 1 && a.done) {
        __threadfence(); // what this thread wrote comes before the count
        __syncthreads();
        if (thread == 0) {
            is_last = atomicInc(a.done + blockIdx.x, a.parts - 1) == a.parts - 1;
        }
        __syncthreads();
        if (!is_last) {
            return;
        }
        __threadfence(); // the count comes before what others wrote
        const unsigned first_i = blockIdx.x * columns;
        join(a, first_i, min(a.ni - first_i, (unsigned)columns), 0, SUMS, thread, FORCE_THREADS);
        if (NEAREST) {
            ::nearest(a, meeting, first_i, columns, rows, thread);
        }
    }
}

// All kernels of one precision: force_<precision>_<jerk|still>[_nearest]_<i-particles a thread>, of which
// at least `blocks` thread blocks (with four i-particles: `blocks_of_four`) find registers on a multiprocessor.
#define FORCE_KERNELS(Precision, name, blocks, blocks_of_four)                               \
    CROWDED_KERNEL(force_##name##_jerk_1, ForceArgs, FORCE_THREADS, blocks)                  \
    { force<Precision, true, false, 1>(a); }                                                 \
    CROWDED_KERNEL(force_##name##_jerk_2, ForceArgs, FORCE_THREADS, blocks)                  \
    { force<Precision, true, false, 2>(a); }                                                 \
    CROWDED_KERNEL(force_##name##_jerk_4, ForceArgs, FORCE_THREADS, blocks_of_four)          \
    { force<Precision, true, false, 4>(a); }                                                 \
    CROWDED_KERNEL(force_##name##_jerk_nearest_1, ForceArgs, FORCE_THREADS, blocks)          \
    { force<Precision, true, true, 1>(a); }                                                  \
    CROWDED_KERNEL(force_##name##_jerk_nearest_2, ForceArgs, FORCE_THREADS, blocks)          \
    { force<Precision, true, true, 2>(a); }                                                  \
    CROWDED_KERNEL(force_##name##_jerk_nearest_4, ForceArgs, FORCE_THREADS, blocks_of_four)  \
    { force<Precision, true, true, 4>(a); }                                                  \
    CROWDED_KERNEL(force_##name##_still_1, ForceArgs, FORCE_THREADS, blocks)                 \
    { force<Precision, false, false, 1>(a); }                                                \
    CROWDED_KERNEL(force_##name##_still_2, ForceArgs, FORCE_THREADS, blocks)                 \
    { force<Precision, false, false, 2>(a); }                                                \
    CROWDED_KERNEL(force_##name##_still_4, ForceArgs, FORCE_THREADS, blocks_of_four)         \
    { force<Precision, false, false, 4>(a); }                                                \
    CROWDED_KERNEL(force_##name##_still_nearest_1, ForceArgs, FORCE_THREADS, blocks)         \
    { force<Precision, false, true, 1>(a); }                                                 \
    CROWDED_KERNEL(force_##name##_still_nearest_2, ForceArgs, FORCE_THREADS, blocks)         \
    { force<Precision, false, true, 2>(a); }                                                 \
    CROWDED_KERNEL(force_##name##_still_nearest_4, ForceArgs, FORCE_THREADS, blocks_of_four) \
    { force<Precision, false, true, 4>(a); }                                                 \
    KERNEL(advance_##name, AdvanceArgs, ADVANCE_THREADS) { advance<Precision>(a); }
