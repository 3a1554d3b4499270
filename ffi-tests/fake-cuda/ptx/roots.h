// The approximate reciprocal roots: rounded correctly, or wrong by as much as the manual allows.
//
// PTX ISA, rsqrt: the relative error of .f32 is at most 2^-22.9; CUDA's rsqrt(double), which is
// rsqrt.approx.f64, is right within one unit in the last place.
#ifndef FAKE_CUDA_PTX_ROOTS_H
#define FAKE_CUDA_PTX_ROOTS_H

#include "types.h"

namespace ptx {

// How wrong the roots are.
struct Roots {
    enum Kind { exact, high, low, drawn } kind = exact; // high, low: all by the most that is allowed
    u64 seed = 0;                                        // of what is drawn, by the bits of the argument
};

// One choice for the process; made before the first launch.
inline Roots roots;

inline bool roots_are_exact() { return roots.kind == Roots::exact; }

inline f32 exact_root(f32 x) { return f32(1.0 / __builtin_sqrt(f64(x))); }
inline f64 exact_root(f64 x) { return 1.0 / __builtin_sqrt(x); }

inline u32 scrambled(u32 x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

// -1 to 1
inline f64 drawn_error(u32 hash)
{
    return roots.kind == Roots::high ? 1.0 : roots.kind == Roots::low ? -1.0 : f64(s32(hash)) * 0x1p-31;
}

inline f32 wrong_root(f32 x)
{
    // 2^-22.9 less what rounding to single precision may add.
    constexpr f64 most = 1.2775e-7 - 0x1p-24;
    return f32(1.0 / __builtin_sqrt(f64(x)) * (1.0 + most * drawn_error(scrambled(bits<u32>(x) ^ u32(roots.seed)))));
}

inline f64 wrong_root(f64 x)
{
    u64 b = bits<u64>(x);
    // A unit in the last place is 2^-52 of numbers from 1 to 2, and 2^-53 just below.
    f64 error = drawn_error(scrambled(u32(b) ^ scrambled(u32(b >> 32)) ^ u32(roots.seed)));
    f64 y = exact_root(x);
    return y + y * (error < 0 ? -0x1p-53 : 0x1p-53) * (error * error > 0.0625 ? 1.0 : 0.0);
}

} // namespace ptx

#endif
