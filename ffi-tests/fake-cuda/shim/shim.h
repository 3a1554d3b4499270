// The CUDA that kirin's kernels use, as C++17 for the host: a kernel compiled with this
// header is the same source that NVRTC compiles, run by launch.h on a machine without a GPU.
//
// Compile with -ffp-contract=off: what is fused is written out in the kernels.
#ifndef KIRIN_SHIM_H
#define KIRIN_SHIM_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "launch.h"

#define __device__
#define __host__
#define __global__
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
#define __constant__ static
// One block runs at a time, so what its threads share is one object of the process.
#define __shared__ static

#define KERNEL(name, Args, threads) KIRIN_SHIM_KERNEL(name, Args, threads)
#define KIRIN_SHIM_KERNEL(name, Args, threads)                                                   \
    static void name(const Args &a);                                                             \
    static void name##_thread(const void *args) { name(*static_cast<const Args *>(args)); }      \
    static const ::shim::Kernel name##_kernel = {#name, sizeof(Args), threads, name##_thread};   \
    static const ::shim::Registration name##_registration(name##_kernel);                        \
    static void name(const Args &a)

#define __syncthreads() ((void)::shim::barrier(__FILE__, __LINE__, 0))
#define __syncthreads_or(vote) (::shim::barrier(__FILE__, __LINE__, (vote) != 0))

#define KIRIN_SHIM_VECTOR2(vector, element, alignment)                                           \
    struct alignas(alignment) vector {                                                           \
        element x, y;                                                                            \
    };                                                                                           \
    static inline vector make_##vector(element x, element y) { return {x, y}; }
#define KIRIN_SHIM_VECTOR4(vector, element, alignment)                                           \
    struct alignas(alignment) vector {                                                           \
        element x, y, z, w;                                                                      \
    };                                                                                           \
    static inline vector make_##vector(element x, element y, element z, element w)               \
    {                                                                                            \
        return {x, y, z, w};                                                                     \
    }

KIRIN_SHIM_VECTOR2(int2, int, 8)
KIRIN_SHIM_VECTOR2(uint2, unsigned, 8)
KIRIN_SHIM_VECTOR2(float2, float, 8)
KIRIN_SHIM_VECTOR2(double2, double, 16)
KIRIN_SHIM_VECTOR4(int4, int, 16)
KIRIN_SHIM_VECTOR4(uint4, unsigned, 16)
KIRIN_SHIM_VECTOR4(float4, float, 16)
KIRIN_SHIM_VECTOR4(double4, double, 16)

static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline float __fsqrt_rn(float a) { return __builtin_sqrtf(a); }
static inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
static inline double __dsqrt_rn(double a) { return __builtin_sqrt(a); }
static inline double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
static inline float __double2float_rn(double a) { return static_cast<float>(a); }
static inline int __clz(int a) { return a ? __builtin_clz(static_cast<unsigned>(a)) : 32; }
static inline int __popc(unsigned a) { return __builtin_popcount(a); }
static inline double rsqrt(double a) { return 1.0 / __builtin_sqrt(a); }

template <class To, class From> static inline To shim_bits(From from)
{
    static_assert(sizeof(To) == sizeof(From), "bits are moved, not converted");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}
static inline int __float_as_int(float a) { return shim_bits<int>(a); }
static inline float __int_as_float(int a) { return shim_bits<float>(a); }
static inline unsigned __float_as_uint(float a) { return shim_bits<unsigned>(a); }
static inline float __uint_as_float(unsigned a) { return shim_bits<float>(a); }
static inline long long __double_as_longlong(double a) { return shim_bits<long long>(a); }
static inline double __longlong_as_double(long long a) { return shim_bits<double>(a); }
static inline int __double2loint(double a) { return static_cast<int>(shim_bits<uint64_t>(a)); }
static inline int __double2hiint(double a)
{
    return static_cast<int>(shim_bits<uint64_t>(a) >> 32);
}
static inline double __hiloint2double(int high, int low)
{
    return shim_bits<double>(uint64_t(uint32_t(high)) << 32 | uint32_t(low));
}

// On the device an approximation of the processor's; here rounded correctly, as by ffi-tests/fake-cuda/ptx.
static inline float kirin_rsqrt(float a)
{
    return static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(a)));
}

#define KIRIN_SHIM_ORDERED(type)                                                                 \
    static inline type min(type a, type b) { return b < a ? b : a; }                             \
    static inline type max(type a, type b) { return a < b ? b : a; }
KIRIN_SHIM_ORDERED(int)
KIRIN_SHIM_ORDERED(unsigned)
KIRIN_SHIM_ORDERED(long)
KIRIN_SHIM_ORDERED(unsigned long)
KIRIN_SHIM_ORDERED(long long)
KIRIN_SHIM_ORDERED(unsigned long long)
static inline float min(float a, float b) { return fminf(a, b); }
static inline float max(float a, float b) { return fmaxf(a, b); }
static inline double min(double a, double b) { return fmin(a, b); }
static inline double max(double a, double b) { return fmax(a, b); }

template <class T, class Operation> static inline T shim_update(T *at, Operation operation)
{
    T old = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(at, &old, operation(old), true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
    }
    return old;
}
#define KIRIN_SHIM_ATOMIC(type)                                                                  \
    static inline type atomicAdd(type *at, type by)                                              \
    {                                                                                            \
        return __atomic_fetch_add(at, by, __ATOMIC_RELAXED);                                     \
    }                                                                                            \
    static inline type atomicOr(type *at, type bits)                                             \
    {                                                                                            \
        return __atomic_fetch_or(at, bits, __ATOMIC_RELAXED);                                    \
    }                                                                                            \
    static inline type atomicExch(type *at, type value)                                          \
    {                                                                                            \
        return __atomic_exchange_n(at, value, __ATOMIC_RELAXED);                                 \
    }                                                                                            \
    static inline type atomicMin(type *at, type value)                                           \
    {                                                                                            \
        return shim_update(at, [=](type old) { return min(old, value); });                       \
    }                                                                                            \
    static inline type atomicMax(type *at, type value)                                           \
    {                                                                                            \
        return shim_update(at, [=](type old) { return max(old, value); });                       \
    }
KIRIN_SHIM_ATOMIC(int)
KIRIN_SHIM_ATOMIC(unsigned)
KIRIN_SHIM_ATOMIC(unsigned long long)

static inline long long clock64() { return ::shim::clock(); }
static inline void __threadfence() { ::shim::fence(); }
static inline void __threadfence_system() { ::shim::fence(); }

#endif
