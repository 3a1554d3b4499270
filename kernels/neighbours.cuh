// Nearest neighbours and neighbour lists, decided from the predicted double-precision positions.
// The distance is the one of src/neighbours.rs, operation by operation.
#pragma once

#include "layout.cuh"

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

// What a thread knows of the nearest neighbour: `at` counts slots in address order.
struct Nearest {
    double r2;
    unsigned long long at;
    int label;
};

__device__ __forceinline__ void take_nearer(Nearest& best, const Nearest& other)
{
    if (other.r2 < best.r2 || (other.r2 == best.r2 && other.at < best.at)) {
        best = other;
    }
}

// One thread block an i-particle. The leaf that holds the nearest particle is known, unless another
// comes as close within the error of the pair loop: then all leaves are looked at.
__device__ __forceinline__ void nearest(const NearestArgs& a)
{
    __shared__ Nearest found[NEIGHBOUR_THREADS];
    __shared__ double least[NEIGHBOUR_THREADS];
    __shared__ double second[NEIGHBOUR_THREADS];
    __shared__ unsigned leaf[NEIGHBOUR_THREADS];
    const int thread = threadIdx.x;
    const unsigned which = blockIdx.x;
    const IRecord i = a.particles[which];
    const double infinite = __longlong_as_double(0x7ff0000000000000LL);

    double my_least = infinite, my_second = infinite;
    unsigned my_leaf = 0;
    for (unsigned n = thread; n < a.candidates; n += NEIGHBOUR_THREADS) {
        const size_t at = (size_t)n * a.ni + which;
        const double d = a.least[at];
        if (d < my_least) {
            my_second = fmin(my_least, a.second[at]);
            my_least = d;
            my_leaf = a.leaf[at];
        } else {
            my_second = fmin(my_second, d);
        }
    }
    least[thread] = my_least;
    second[thread] = my_second;
    leaf[thread] = my_leaf;
    __syncthreads();
    for (int half = NEIGHBOUR_THREADS / 2; half > 0; half /= 2) {
        if (thread < half) {
            const double d = least[thread + half];
            if (d < least[thread]) {
                second[thread] = fmin(least[thread], second[thread + half]);
                least[thread] = d;
                leaf[thread] = leaf[thread + half];
            } else {
                second[thread] = fmin(second[thread], d);
            }
        }
        __syncthreads();
    }

    // The absolute error of r^2 matters where RELATIVE_ERROR of it does not cover the rounding of the coordinates.
    double slack = 0.0;
    for (int k = 0; k < 3; ++k) {
        const double e = i.x[k] * a.j.length * a.precision;
        slack += e * e * (1 << 18);
    }
    const bool decided = least[0] * (1.0 + RELATIVE_ERROR) + slack < second[0];
    const unsigned long long begin = decided ? (unsigned long long)leaf[0] * LEAF : 0;
    const unsigned long long end = decided ? begin + LEAF : (unsigned long long)a.pages * PAGE;

    Nearest best;
    best.r2 = infinite;
    best.at = ~0ULL;
    best.label = 0;
    for (unsigned long long at = begin + thread; at < end; at += NEIGHBOUR_THREADS) {
        const unsigned place = a.order[at / PAGE];
        const int slot = (int)(at % PAGE);
        if (slot < slots_below(a.j, place, a.nj)) {
            Nearest other;
            other.r2 = distance2(i, a.j.exact + (size_t)place * (3 * PAGE), slot);
            other.at = at;
            other.label = label_at(a.j, place, slot);
            if (other.label != (int)i.label) {
                take_nearer(best, other);
            }
        }
    }
    found[thread] = best;
    __syncthreads();
    for (int half = NEIGHBOUR_THREADS / 2; half > 0; half /= 2) {
        if (thread < half) {
            take_nearer(found[thread], found[thread + half]);
        }
        __syncthreads();
    }
    if (thread == 0) {
        a.r2[which] = found[0].r2;
        a.label[which] = found[0].label;
    }
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
