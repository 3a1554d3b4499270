// The forces on a block of i-particles: equations 3.3 to 3.5 of the kirin thesis.
//
// A thread block has `columns` x `rows` = FORCE_THREADS threads. A thread has R i-particles (columns apart); the
// rows share the leaves of each page among them, which come through shared memory a page at a time.
// One thread sums one leaf in address order in the precision of the pairs; from there on sums are
// double and follow the binary tree over all addresses, whoever computes which part of it.
#pragma once

#include "advance.cuh"
#include "done.cuh"
#include "resum.cuh"
#include "join.cuh"
#include "leaf.cuh"
#include "neighbours.cuh"

#define FORCE_THREADS 128
// The way of the kernels that are shipped. The number unrolled gives enough pairs to overlap, and few enough for the
// instruction cache and the registers.
template <int R>
using Usual = Way<R == 1 ? 8 : 4, R == 1, false>;

// What a thread block shares: a page, and in the same memory later what its rows tell each other.
template <class P>
union Shared {
    Tile<P> tile;
    double left[SUMS][FORCE_THREADS];
    Meeting meeting;
};

// The leaves of a run, joined. `greatest` is the greatest potential of one of them.
template <class P, bool JERK, bool NEAREST, int R, class W>
__device__ __forceinline__ void
sum_leaves(const Run<P>& run, const Tile<P>& tile, const Target<P>* i, typename P::Number minus_three,
           Waiting<P, R>& waiting, double (*total)[SUMS], typename P::Number* greatest,
           typename P::Number (*nearest)[2], unsigned* where)
{
    typedef typename P::Number Number;
    const int quantities = JERK ? SUMS : STILL_SUMS;
    int depth = 0;
#pragma unroll
    for (int r = 0; r < R; ++r) {
        greatest[r] = 0;
#pragma unroll
        for (int c = quantities; c < SUMS; ++c) {
            total[r][c] = 0.0;
        }
    }
    for (int leaf = run.begin; leaf < run.end; ++leaf) {
        Number sums[R][P::PARTS];
        Number least[R];
#pragma unroll
        for (int r = 0; r < R; ++r) {
            least[r] = P::infinity();
        }
#pragma unroll 1
        for (int first = 0; first < LEAF; first += P::RUN) {
#pragma unroll
            for (int r = 0; r < R; ++r) {
#pragma unroll
                for (int c = 0; c < P::PARTS; ++c) {
                    sums[r][c] = 0;
                }
            }
            if (leaf * LEAF < run.present) {
                const typename P::Vector* at = tile.at[0][leaf] + first;
                if (run.mask) {
                    add_run<P, JERK, NEAREST, true, R, W::UNROLL>(at, i, minus_three, sums, least);
                } else if constexpr (W::AHEAD != 0) {
                    add_run_ahead<P, JERK, NEAREST, R, W>(at, i, minus_three, sums, least);
                } else {
                    add_run<P, JERK, NEAREST, false, R, W::UNROLL>(at, i, minus_three, sums, least);
                }
            }
            if (first + P::RUN < LEAF) {
#pragma unroll
                for (int r = 0; r < R; ++r) {
#pragma unroll
                    for (int c = 0; c < quantities; ++c) {
                        waiting.first_run[r][c] = sums[r][c];
                    }
                }
                keep_in_memory(waiting.first_run);
            }
        }
#pragma unroll
        for (int r = 0; r < R; ++r) {
#pragma unroll
            for (int c = 0; c < quantities; ++c) {
                sums[r][c] = P::RUN < LEAF ? P::add(waiting.first_run[r][c], sums[r][c]) : sums[r][c];
            }
            if (NEAREST) {
                where[r] = least[r] < nearest[r][0] ? run.position * LEAVES + leaf : where[r];
                nearest[r][1] = P::least(nearest[r][1], P::greatest(nearest[r][0], least[r]));
                nearest[r][0] = P::least(nearest[r][0], least[r]);
            }
            if (!P::EXACT) {
                greatest[r] = P::greatest(greatest[r], P::magnitude(sums[r][3]));
            }
#pragma unroll
            for (int c = 0; c < quantities; ++c) {
                total[r][c] = P::joined(sums[r], c);
            }
        }
        waiting.template join<R, quantities>(leaf - run.begin, leaf + 1 == run.end, depth, total);
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

    __device__ __forceinline__ Factors(double mass_unit, const ForceArgs& a, double time)
    {
        const double m_l = __dmul_rn(__dmul_rn(mass_unit, a.j.length), a.inverse_root);
        const double area = __dmul_rn(a.inverse_root, a.inverse_root);
        acc = __dmul_rn(__dmul_rn(m_l, a.j.length), area);
        pot = -m_l;
        jerk = __dmul_rn(acc, time);
    }
    __device__ __forceinline__ double of(int c) const { return c < 3 ? acc : c == 3 ? pot : jerk; }
};

// What comes before the pairs of a page where `advance` has brought the pages up to date.
struct Nothing {
    __device__ __forceinline__ void operator()(unsigned, unsigned) const {}
};

// `particles` are the i-particles; `bring_up_to_date` is called for each page before it is read.
template <class P, bool JERK, bool NEAREST, int R, class W, class BringUpToDate>
__device__ __forceinline__ void force(const ForceArgs& a, const IRecord* particles, const BringUpToDate& bring_up_to_date)
{
    typedef typename P::Vector Vector;
    static_assert(FORCE_THREADS == NEIGHBOUR_THREADS, "as many as meet");
    __shared__ Shared<P> shared;
    Tile<P>& tile = shared.tile;
    Meeting& meeting = shared.meeting;
    double (*left)[FORCE_THREADS] = shared.left;
    __shared__ int least_label;
    __shared__ int greatest_label;
    __shared__ unsigned redone; // leaves
    __shared__ unsigned slowest; // clocks that the slowest thread took to look at a page again
    __shared__ unsigned long long clocks; // of all pages

    const int quantities = JERK ? SUMS : STILL_SUMS;
    const int columns = blockDim.x, rows = W::ROWS ? blockDim.y : 1;
    const int column = threadIdx.x, row = W::ROWS ? threadIdx.y : 0;
    const int thread = row * columns + column;
    const unsigned part = blockIdx.y;
    const unsigned begin = (unsigned)((unsigned long long)a.pages * part / a.parts);
    const unsigned end = (unsigned)((unsigned long long)a.pages * (part + 1) / a.parts);

    if (thread == 0) {
        least_label = 0x7fffffff;
        greatest_label = -0x7fffffff - 1;
        redone = slowest = 0;
        clocks = 0;
    }
    __syncthreads();
    Target<P> i[R];
    unsigned which[R];
#pragma unroll
    for (int r = 0; r < R; ++r) {
        which[r] = (blockIdx.x * R + r) * columns + column;
        i[r].load(particles[min(which[r], a.ni - 1)], a.j);
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

    Waiting<P, R> waiting;
    const double time = a.j.length / a.j.velocity;
    const size_t one_sum = (size_t)SUMS * a.ni;
    unsigned depth = a.first_sum[part];
    for (unsigned n = begin; n < end; ++n) {
        const unsigned place = a.order[n];
        bring_up_to_date(place, thread);
        const PageInfo page = a.j.pages[place];
        const unsigned long long first = (unsigned long long)page.number * PAGE;
        Run<P> run;
        run.place = place;
        run.position = n;
        run.begin = row * (LEAVES / rows);
        run.end = run.begin + LEAVES / rows;
        run.present = a.nj - first < PAGE ? (int)(a.nj - first) : PAGE;
        const Vector* from = (const Vector*)a.j.predicted + (size_t)place * (P::VECTORS * PAGE);

        __syncthreads(); // everybody is done with the page before
#pragma unroll
        for (int vector = 0; vector < P::VECTORS; ++vector) {
#pragma unroll
            for (int turn = 0; turn < PAGE / FORCE_THREADS; ++turn) {
                const int s = turn * FORCE_THREADS + thread;
                tile.at[vector][s / LEAF][s % LEAF] =
                    s < run.present ? from[vector * PAGE + s] : P::absent(vector);
            }
        }
        if (thread == 0) {
            clocks += slowest;
            slowest = 0;
        }
        __syncthreads();

        run.mask = page.least_label <= greatest_label && least_label <= page.greatest_label;
        run.learn(page, a.j.far[place]);
        double total[R][SUMS];
        typename P::Number greatest[R];
        sum_leaves<P, JERK, NEAREST, R, W>(run, tile, i, P::minus_three(a), waiting, total, greatest, nearest, where);
        unsigned again = 0;
#pragma unroll
        for (int r = 0; r < R; ++r) {
            again |= prove_every_pair<P, JERK>(run, i[r], greatest[r], total[r]) || which[r] >= a.ni ? 0 : 1u << r;
        }
        if (again) {
            const long long start = clock64();
            unsigned certainly = 0;
#pragma unroll
            for (int r = 0; r < R; ++r) {
                certainly |= are_finite(total[r]) ? 0 : 1u << r;
            }
#pragma unroll 1
            for (int r = 0; r < R; ++r) {
                if (!(again >> r & 1)) {
                    continue;
                }
                double better[1][SUMS];
                const IRecord& particle = particles[(blockIdx.x * R + r) * columns + column];
                const unsigned leaves =
                    look_again<P, JERK, R>(a, run, tile, particle, certainly >> r & 1, waiting, better);
                if (leaves) {
                    atomicAdd(&redone, leaves);
#pragma unroll
                    for (int other = 0; other < R; ++other) {
#pragma unroll
                        for (int c = 0; c < quantities; ++c) {
                            total[other][c] = other == r ? better[0][c] : total[other][c];
                        }
                    }
                }
            }
            atomicMax(&slowest, (unsigned)(clock64() - start));
            // So that they need not be kept in registers up to here.
#pragma unroll
            for (int r = 0; r < R; ++r) {
                i[r].load(particles[min(which[r], a.ni - 1)], a.j);
            }
        }
        const unsigned joins = a.joins[n];
        const Factors factors(page.mass_unit, a, time);
        depth -= joins;
        if (rows == 1) {
#pragma unroll
            for (int r = 0; r < R; ++r) {
#pragma unroll
                for (int c = 0; c < quantities; ++c) {
                    total[r][c] = __dmul_rn(total[r][c], factors.of(c));
                }
            }
            double* at = a.sums + (depth + joins) * one_sum;
            for (unsigned back = joins; back > 0; --back) {
                at -= one_sum;
#pragma unroll
                for (int c = 0; c < quantities; ++c) {
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
#pragma unroll
            for (int r = 0; r < R; ++r) {
                __syncthreads(); // everybody is done with the tile, or with the sums before
#pragma unroll
                for (int c = 0; c < quantities; ++c) {
                    left[c][thread] = total[r][c];
                }
                __syncthreads();
                if (which[r] < a.ni) {
                    // A row for each sum, as far as there are rows.
                    for (int c = row; c < SUMS; c += rows) {
                        double* at = a.sums + depth * one_sum + (size_t)c * a.ni + which[r];
                        if (c >= quantities) {
                            *at = 0.0;
                            continue;
                        }
                        double s = __dmul_rn(join_rows(left, c, column, columns, rows), factors.of(c));
                        for (unsigned back = joins; back-- > 0;) {
                            s = __dadd_rn(at[back * one_sum], s);
                        }
                        *at = s;
                    }
                }
            }
        }
        ++depth;
    }
    __syncthreads(); // everybody is done with the tile, and has counted
    if (thread == 0 && clocks + slowest) {
        atomicAdd(&a.redone->leaves, (unsigned long long)redone);
        atomicAdd(&a.redone->clocks, clocks + slowest);
    }
    if (NEAREST) {
        static_assert(!NEAREST || (W::ROWS != 0) == (R == 1), "of several i-particles the rows do not tell each other");
        if (R == 1) {
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
    tell_done(a, thread);
}

template <class P, bool JERK, bool NEAREST, int R>
__device__ __forceinline__ void force(const ForceArgs& a)
{
    force<P, JERK, NEAREST, R, Usual<R>>(a, a.particles, Nothing());
}

// Brings a page up to date from the arguments of a step.
template <class P>
struct FromArguments {
    const StepArgs& a;

    __device__ __forceinline__ void operator()(unsigned place, unsigned thread) const
    {
        bool has_changed = false;
        double* raw = a.force.j.raw + (size_t)place * (RECORD * PAGE);
        for (unsigned n = 0; n < a.records; ++n) {
            if (a.place[n] == place) {
                has_changed = true;
                // The upper half is PAGE and the slot.
                const unsigned slot = (unsigned)__double2hiint(a.record[n * RECORD + COLUMN_LABEL]) - PAGE;
                if (thread < RECORD) {
                    raw[thread * PAGE + slot] = a.record[n * RECORD + thread];
                }
            }
        }
        if (!has_changed && !a.predicts) {
            return;
        }
        __syncthreads(); // the records are there
        const PageInfo info = a.force.j.pages[place];
        const unsigned far = predict_page<P>(a.force.j, place, info, a.force.ti, 0, thread, FORCE_THREADS);
        if (thread == 0) {
            a.force.j.far[place] = far;
        }
        __syncthreads(); // the predictions are there
    }
};

// The forces on at most FEW i-particles, and before it what `advance` does. All thread blocks have the same
// i-particles and pages of their own.
template <class P, bool NEAREST>
__device__ __forceinline__ void step(const StepArgs& a)
{
    __shared__ IRecord few[FEW];
    const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
    const unsigned words = sizeof(IRecord) / sizeof(double) * a.force.ni;
    for (unsigned w = thread; w < words; w += FORCE_THREADS) {
        const double word = ((const double*)a.particles)[w];
        ((double*)few)[w] = word;
        if (NEAREST && blockIdx.y == 0) {
            ((double*)a.force.particles)[w] = word;
        }
    }
    __syncthreads();
    force<P, true, NEAREST, 1, Usual<1>>(a.force, few, FromArguments<P>{a});
}

// All kernels of one precision: step_<precision>[_nearest], advance_<precision> and force_<precision>_<jerk|still>[_nearest]_<i-particles a thread>, of which
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
    CROWDED_KERNEL(step_##name, StepArgs, FORCE_THREADS, blocks) { step<Precision, false>(a); } \
    CROWDED_KERNEL(step_##name##_nearest, StepArgs, FORCE_THREADS, blocks) { step<Precision, true>(a); } \
    CROWDED_KERNEL(advance_##name, AdvanceArgs, ADVANCE_THREADS, 2) { advance<Precision>(a); }
