// Logarithm, exponential and power with the bits of src/elementary.rs, which explains them: the same operations in the same
// order. Products are rounded by themselves (--fmad=false).

#include "elementary_coefficients.cuh"

#define INFINITE __longlong_as_double(0x7ff0000000000000ll)
#define NOT_A_NUMBER __longlong_as_double(0x7ff8000000000000ll)
#define LEAST_NORMAL 2.2250738585072014e-308

// The polynomial with these coefficients, its even and its odd powers summed apart.
template <int N> __device__ inline double polynomial(const double (&coefficients)[N], double z)
{
    const double square = z * z;
    double even = 0, odd = 0;
#pragma unroll
    for (int n = N - 1; n >= 0; n--) {
        if (n % 2 == 0)
            even = even * square + coefficients[n];
        else
            odd = odd * square + coefficients[n];
    }
    return even + z * odd;
}

// A sum of two numbers.
struct Parts {
    double sum, rest;
};

// The logarithm of a positive, finite number.
__device__ inline Parts ln_parts(double x)
{
    constexpr double log[] = LOG_COEFFICIENTS;
    long long shift = 0;
    if (x < LEAST_NORMAL) {
        x *= TWO54;
        shift = -54;
    }
    // x = 2^k m.
    const long long above = (__double_as_longlong(x) - ROOT_HALF) >> 52;
    const double m = __longlong_as_double(__double_as_longlong(x) - (above << 52));
    const double k = double(above + shift);
    const double f = m - 1, d = m + 1;
    const double d_rest = m - (d - 1);
    const double s = f / d;
    const double s_rest = (__fma_rn(-s, d, f) - s * d_rest) / d;
    const double z = s * s;
    const double cubic = s * z * polynomial(log, z);
    const double whole = k * LN2, first = 2 * s;
    const double sum = whole + first;
    const double rest = (whole - sum) + first;
    return {sum, rest + (2 * s_rest + (cubic + k * LN2_REST))};
}

__device__ inline bool is_regular(double x)
{
    return x > 0 && x < INFINITE;
}

__device__ inline double ln(double x)
{
    if (is_regular(x)) {
        const Parts parts = ln_parts(x);
        return parts.sum + parts.rest;
    }
    return x == 0 ? -INFINITE : x == INFINITE ? x : NOT_A_NUMBER;
}

__device__ inline double ln_1p(double x)
{
    const double u = 1 + x;
    if (!is_regular(u))
        return ln(u);
    const double lost = x > 1 ? 1 - (u - x) : x - (u - 1);
    const Parts parts = ln_parts(u);
    return parts.sum + (parts.rest + lost / u);
}

__device__ inline double power_of_two(long long k)
{
    return __longlong_as_double((1023 + k) << 52);
}

// exp(r + rest) - 1 - r for small numbers.
__device__ inline double above_linear(double r, double rest)
{
    constexpr double exp[] = EXP_COEFFICIENTS;
    return rest + r * r * polynomial(exp, r);
}

// exp(x + rest), where `rest` is much smaller.
__device__ inline double exp_parts(double x, double rest)
{
    if (x < EXP_LEAST)
        return 0;
    if (x > EXP_MOST)
        return INFINITE;
    const double rounded = x * INVERSE_LN2 + ROUNDING;
    const double k = rounded - ROUNDING;
    const double a = x - k * LN2, b = k * LN2_REST - rest;
    const double r = a - b;
    const double value = 1 + (r + above_linear(r, (a - r) - b));
    // The integer is in the last bits of the rounded number.
    const long long whole = __double_as_longlong(rounded) - __double_as_longlong(ROUNDING);
    const long long half = whole >> 1;
    return value * power_of_two(half) * power_of_two(whole - half);
}

// Not called `exp`: that is a function of CUDA's.
__device__ inline double exponential(double x)
{
    return exp_parts(x, 0);
}

__device__ inline double exponential_m1(double x)
{
    return fabs(x) < 0.35 ? x + above_linear(x, 0) : exponential(x) - 1;
}

__device__ inline double power(double x, double y)
{
    if (y == 1)
        return x;
    if (y == 0)
        return 1;
    if (!is_regular(x)) {
        const bool is_large = (x == 0) == (y < 0);
        return x == 0 || x == INFINITE ? is_large ? INFINITE : 0 : NOT_A_NUMBER;
    }
    const Parts parts = ln_parts(x);
    const double product = y * parts.sum;
    return exp_parts(product, __fma_rn(y, parts.sum, -product) + y * parts.rest);
}
