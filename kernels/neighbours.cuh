// Nearest neighbours and neighbour lists, decided from the predicted double-precision positions.
// The distance is the one of src/core/sources/neighbours.rs, operation by operation.
#pragma once

#include "done.cuh"

#define NEIGHBOUR_THREADS 128
// Relative error of r^2 + eps^2 that the smallest of a leaf may have, generously.
#define RELATIVE_ERROR (1.0 / 16384.0)

__device__ __forceinline__ double distance2(const IRecord& i, const double* exact, int slot)
{
    const double x = __dsub_rn(exact[slot], i.x[0]);
    const double y = __dsub_rn(exact[PAGE + slot], i.x[1]);
    const double z = __dsub_rn(exact[2 * PAGE + slot], i.x[2]);
    return __dadd_rn(__dadd_rn(__dmul_rn(x, x), __dmul_rn(y, y)), __dmul_rn(z, z));
}

__device__ __forceinline__ int label_at(const Sources& j, unsigned place, int slot)
{
    return __double2loint(j.raw[(size_t)place * (RECORD * PAGE) + COLUMN_LABEL * PAGE + slot]);
}

// Slots of a page below nj. Where no particle is, the position is not a number.
__device__ __forceinline__ int slots_below(const Sources& j, unsigned place, unsigned long long nj)
{
    const unsigned long long first = (unsigned long long)j.pages[place].number * PAGE;
    return nj - first < PAGE ? (int)(nj - first) : PAGE;
}

// What the pair loop tells of the nearest neighbour.
struct Candidate {
    double least; // r^2 of a leaf
    double second; // of the next
    unsigned leaf; // the first
    unsigned unused; // copied with the rest, so somebody writes it
};

__device__ __forceinline__ void take_candidate(Candidate& best, const Candidate& other)
{
    if (other.least < best.least) {
        best.second = fmin(best.least, other.second);
        best.least = other.least;
        best.leaf = other.leaf;
    } else {
        best.second = fmin(best.second, other.least);
    }
}

// What a thread knows of the nearest neighbour: `at` counts slots in address order.
struct Nearest {
    double r2;
    unsigned long long at;
    int label;
    int unused; // as above
};

__device__ __forceinline__ void take_nearer(Nearest& best, const Nearest& other)
{
    if (other.r2 < best.r2 || (other.r2 == best.r2 && other.at < best.at)) {
        best = other;
    }
}

// The nearest of the slots begin, begin + step, ... below `end`.
__device__ __forceinline__ Nearest nearest_among(const ForceArgs& a, const IRecord& i, unsigned long long begin,
                                                 unsigned long long end, unsigned step)
{
    Nearest best;
    best.r2 = __longlong_as_double(0x7ff0000000000000LL);
    best.at = ~0ULL;
    best.label = 0;
    best.unused = 0;
    for (unsigned long long at = begin; at < end; at += step) {
        const unsigned place = a.order[at / PAGE];
        const int slot = (int)(at % PAGE);
        if (slot < slots_below(a.j, place, a.nj)) {
            Nearest other;
            other.r2 = distance2(i, a.j.exact + (size_t)place * (3 * PAGE), slot);
            other.at = at;
            other.label = label_at(a.j, place, slot);
            other.unused = 0;
            if (other.label != (int)i.label) {
                take_nearer(best, other);
            }
        }
    }
    return best;
}

// Whether the leaf that holds the nearest particle is known: no other comes as close within the error
// of the pair loop.
__device__ __forceinline__ bool is_decided(const ForceArgs& a, const IRecord& i, const Candidate& best)
{
    // The absolute error of r^2 matters where RELATIVE_ERROR of it does not cover the rounding of the coordinates.
    const double farthest = a.deciding.farthest;
    double slack = 0.0;
    bool near = best.least <= farthest * farthest;
    for (int k = 0; k < 3; ++k) {
        const double x = i.x[k] * a.j.length;
        const double e = x * a.deciding.precision;
        slack += e * e * (1 << 18);
        near = near && fabs(x) <= farthest;
    }
    return near && best.least * (1.0 + RELATIVE_ERROR) + slack < best.second;
}

// Where the threads of a block meet.
struct Meeting {
    Candidate candidates[NEIGHBOUR_THREADS];
    Nearest found[NEIGHBOUR_THREADS];
};

// The rows' results of a column, one by one into the first.
template <class T, class Take>
__device__ __forceinline__ void meet(T* items, unsigned thread, unsigned columns, unsigned rows, Take take)
{
    __syncthreads();
    for (unsigned half = rows / 2; half > 0; half /= 2) {
        if (thread < half * columns) {
            take(items[thread], items[thread + half * columns]);
        }
        __syncthreads();
    }
}

// The nearest neighbour of an i-particle, by one thread block.
__device__ __forceinline__ void nearest_of_one(const ForceArgs& a)
{
    __shared__ Meeting meeting;
    const unsigned which = blockIdx.x, thread = threadIdx.x;
    const IRecord i = a.particles[which];

    Candidate mine;
    mine.least = mine.second = __longlong_as_double(0x7ff0000000000000LL);
    mine.leaf = 0;
    mine.unused = 0;
    for (unsigned n = thread; n < a.parts; n += NEIGHBOUR_THREADS) {
        const size_t at = (size_t)n * a.ni + which;
        Candidate other;
        other.least = a.least[at];
        other.second = a.second[at];
        other.leaf = a.leaf[at];
        other.unused = 0;
        take_candidate(mine, other);
    }
    meeting.candidates[thread] = mine;
    meet(meeting.candidates, thread, 1, NEIGHBOUR_THREADS, take_candidate);

    // Where the pair loop's error leaves the leaf undecided, which is rare, all of them are looked at.
    const Candidate best = meeting.candidates[0];
    const bool decided = is_decided(a, i, best);
    const unsigned long long begin = decided ? (unsigned long long)best.leaf * LEAF : 0;
    const unsigned long long end = decided ? begin + LEAF : (unsigned long long)a.pages * PAGE;
    meeting.found[thread] = nearest_among(a, i, begin + thread, end, NEIGHBOUR_THREADS);
    meet(meeting.found, thread, 1, NEIGHBOUR_THREADS, take_nearer);
    if (thread == 0) {
        a.deciding.r2[which] = meeting.found[0].r2;
        a.deciding.label[which] = meeting.found[0].label;
    }
    tell_done(a, thread);
}

// One thread block an i-particle; each thread has a run of slots of every page, so that the list
// comes in address order. First the lists are counted, then filled.
template <bool FILL>
__device__ __forceinline__ void list(const ListArgs& a)
{
    __shared__ unsigned counts[NEIGHBOUR_THREADS];
    const int thread = threadIdx.x;
    const int run = PAGE / NEIGHBOUR_THREADS;
    const unsigned which = blockIdx.x;
    const IRecord i = a.particles[which];
    unsigned total = 0;
    for (unsigned n = 0; n < a.pages; ++n) {
        const unsigned place = a.order[n];
        const double* exact = a.j.exact + (size_t)place * (3 * PAGE);
        const int present = slots_below(a.j, place, a.nj);
        unsigned mine = 0;
        for (int slot = thread * run; slot < (thread + 1) * run; ++slot) {
            const bool near = slot < present && distance2(i, exact, slot) < i.h2
                && (a.include_self || label_at(a.j, place, slot) != (int)i.label);
            mine |= near ? 1u << (slot - thread * run) : 0u;
        }
        if (!__syncthreads_or(mine != 0)) {
            continue;
        }
        unsigned found = 0;
        for (unsigned bits = mine; bits; bits &= bits - 1) {
            ++found;
        }
        counts[thread] = found;
        __syncthreads();
        unsigned before = total;
        for (int other = 0; other < NEIGHBOUR_THREADS; ++other) {
            before += other < thread ? counts[other] : 0;
            total += counts[other];
        }
        if (FILL) {
            for (int slot = thread * run; slot < (thread + 1) * run; ++slot) {
                if (mine >> (slot - thread * run) & 1u) {
                    a.labels[a.begins[which] + before++] = label_at(a.j, place, slot);
                }
            }
        }
        __syncthreads();
    }
    if (!FILL && thread == 0) {
        a.counts[which] = total;
    }
}
