// The precisions of the pair arithmetic, as types for the kernels' templates.
//
//   mixed         positions as a high and a low float: differences carry 48 bits; the rest in float
//   single        positions rounded to float first, as in 2007
//   double        everything in double precision
//   double_single acceleration and potential in pairs of floats, the jerk in float: double_single.cuh
//
// A j-particle is VECTORS vectors of four: (x, y, z, mass), (vx, vy, vz, label) and for mixed and double_single the
// low parts of the position, for double_single of the mass too. RUN of them are added up one by one: two sums of 32
// terms lose less to rounding than one of 64. They are added in PARTS numbers: the sums, and behind them what else a sum
// consists of.
#pragma once

#include "layout.cuh"

struct Float {
    enum { EXACT = 0 };
    typedef float Number;
    typedef float4 Vector;

    // -3, where the mean error of the root is taken out.
    static __device__ __forceinline__ float minus_three(const ForceArgs& a) { return a.minus_three; }

    static __device__ __forceinline__ float add(float a, float b) { return __fadd_rn(a, b); }
    static __device__ __forceinline__ float sub(float a, float b) { return __fsub_rn(a, b); }
    static __device__ __forceinline__ float mul(float a, float b) { return __fmul_rn(a, b); }
    static __device__ __forceinline__ float fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
    static __device__ __forceinline__ float least(float a, float b) { return fminf(a, b); }
    static __device__ __forceinline__ float greatest(float a, float b) { return fmaxf(a, b); }
    static __device__ __forceinline__ float magnitude(float x) { return fabsf(x); }
    static __device__ __forceinline__ float rsqrt(float x) { return kirin_rsqrt(x); }
    static __device__ __forceinline__ float round(double x) { return __double2float_rn(x); }
    // Zero only if x is.
    static __device__ __forceinline__ float round_from_zero(double x)
    {
        const float least = 1.1754944e-38f;
        return x == 0.0 || fabs(x) >= (double)least ? round(x) : x < 0.0 ? -least : least;
    }
    // A sum of a leaf, which lies in PARTS numbers.
    static __device__ __forceinline__ double joined(const float* parts, int c) { return parts[c]; }
    static __device__ __forceinline__ int label(float w) { return __float_as_int(w); }
    static __device__ __forceinline__ float infinity() { return __int_as_float(0x7f800000); }

    // A particle that is not there: massless, and so far away that it is nobody's neighbour.
    static __device__ __forceinline__ float4 absent(int vector)
    {
        return make_float4(vector == 0 ? 1e18f : 0.0f, 0.0f, 0.0f, 0.0f);
    }
};

struct Single : Float {
    enum { SPLIT = 0, VECTORS = 2, RUN = LEAF, PARTS = SUMS };

    static __device__ __forceinline__ void
    store(float4* to, int slot, const double* x, const double* v, double m, int label)
    {
        to[slot] = make_float4(round(x[0]), round(x[1]), round(x[2]), round(m));
        to[PAGE + slot] = make_float4(round(v[0]), round(v[1]), round(v[2]), __int_as_float(label));
    }
};

struct Mixed : Float {
    enum { SPLIT = 1, VECTORS = 3, RUN = 32, PARTS = SUMS };

    // What rounding x leaves.
    static __device__ __forceinline__ float low(double x)
    {
        return round(__dsub_rn(x, (double)round(x)));
    }
    static __device__ __forceinline__ void
    store(float4* to, int slot, const double* x, const double* v, double m, int label)
    {
        Single::store(to, slot, x, v, m, label);
        to[2 * PAGE + slot] = make_float4(low(x[0]), low(x[1]), low(x[2]), 0.0f);
    }
};

struct DoubleSingle : Mixed {
    // Behind the sums lie the low parts of acceleration and potential.
    enum { RUN = LEAF, PARTS = SUMS + STILL_SUMS };

    static __device__ __forceinline__ double joined(const float* parts, int c)
    {
        return c < STILL_SUMS ? __dadd_rn((double)parts[c], (double)parts[SUMS + c]) : (double)parts[c];
    }
    static __device__ __forceinline__ void
    store(float4* to, int slot, const double* x, const double* v, double m, int label)
    {
        Single::store(to, slot, x, v, m, label);
        to[2 * PAGE + slot] = make_float4(low(x[0]), low(x[1]), low(x[2]), low(m));
    }
};

struct Double {
    enum { SPLIT = 0, VECTORS = 2, EXACT = 1, RUN = LEAF, PARTS = SUMS };
    typedef double Number;
    typedef double4 Vector;

    static __device__ __forceinline__ double minus_three(const ForceArgs&) { return -3.0; }

    static __device__ __forceinline__ double add(double a, double b) { return __dadd_rn(a, b); }
    static __device__ __forceinline__ double sub(double a, double b) { return __dsub_rn(a, b); }
    static __device__ __forceinline__ double mul(double a, double b) { return __dmul_rn(a, b); }
    static __device__ __forceinline__ double fma(double a, double b, double c) { return __fma_rn(a, b, c); }
    static __device__ __forceinline__ double least(double a, double b) { return fmin(a, b); }
    static __device__ __forceinline__ double greatest(double a, double b) { return fmax(a, b); }
    static __device__ __forceinline__ double magnitude(double x) { return fabs(x); }
    static __device__ __forceinline__ double rsqrt(double x) { return ::rsqrt(x); }
    static __device__ __forceinline__ double round(double x) { return x; }
    static __device__ __forceinline__ double round_from_zero(double x) { return x; }
    static __device__ __forceinline__ double low(double) { return 0.0; }
    static __device__ __forceinline__ double joined(const double* parts, int c) { return parts[c]; }
    static __device__ __forceinline__ int label(double w) { return __double2loint(w); }
    static __device__ __forceinline__ double infinity() { return __longlong_as_double(0x7ff0000000000000LL); }

    static __device__ __forceinline__ double4 absent(int vector)
    {
        return make_double4(vector == 0 ? 1e150 : 0.0, 0.0, 0.0, 0.0);
    }
    static __device__ __forceinline__ void
    store(double4* to, int slot, const double* x, const double* v, double m, int label)
    {
        to[slot] = make_double4(x[0], x[1], x[2], m);
        to[PAGE + slot] = make_double4(v[0], v[1], v[2], __hiloint2double(0, label));
    }
};
