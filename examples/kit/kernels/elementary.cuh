// Logarithm, exponential and power with the bits of src/elementary.rs, which explains them: the same operations in the same
// order. Products are rounded by themselves (--fmad=false).

#include "elementary_coefficients.cuh"

#define INFINITE __longlong_as_double(0x7ff0000000000000ll)
#define NOT_A_NUMBER __longlong_as_double(0x7ff8000000000000ll)
#define LEAST_NORMAL 2.2250738585072014e-308

// The polynomial with these coefficients, summed in four parts.
__device__ inline double polynomial(const double (&c)[12], double z)
{
    const double square = z * z;
    const double fourth = square * square;
    const double part0 = (c[8] * fourth + c[4]) * fourth + c[0];
    const double part1 = (c[9] * fourth + c[5]) * fourth + c[1];
    const double part2 = (c[10] * fourth + c[6]) * fourth + c[2];
    const double part3 = (c[11] * fourth + c[7]) * fourth + c[3];
    return (part0 + z * part1) + square * (part2 + z * part3);
}

// A number without its last 27 bits.
__device__ inline double head(double x)
{
    return __longlong_as_double(__double_as_longlong(x) & ~0x7ffffffll);
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
    const double d_head = head(d), d_rest = m - (d - 1);
    const double inverse = 1 / d;
    const double s = f * inverse;
    const double s_head = head(s);
    const double s_rest = ((f - s_head * d_head) - s_head * ((d - d_head) + d_rest)) * inverse;
    const double z = s * s;
    const double cubic = s * z * polynomial(log, z);
    const double whole = k * LN2, first = 2 * s_head;
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
    const double y_head = head(y), sum_head = head(parts.sum);
    const double y_tail = y - y_head, sum_tail = parts.sum - sum_head;
    const double lost = ((y_head * sum_head - product) + y_head * sum_tail) + y_tail * sum_head;
    return exp_parts(product, (lost + y_tail * sum_tail) + y * parts.rest);
}
