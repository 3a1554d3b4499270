// The model of McMillan (2017), as mcmillan.rs and multipole.rs have it. Its numbers are in one table: the expansion's least and
// largest radius and its step; mass and scale length of the halo; four discs of five numbers; then for each radius and each
// multipole the potential with two derivatives.

#include "parts.cuh"

enum { MULTIPOLES = 17, DISCS = 4 };

struct Expansion {
    double least, most, step;
    int radii;
    const double *lines;

    __device__ const double *line(int k, int multipole) const { return lines + 3 * (MULTIPOLES * k + multipole); }
};

// The polynomials of degree 5 that belong to value, first and second derivative at both ends, and their derivatives.
struct Quintic {
    double value[6], slope[6];

    __device__ explicit Quintic(double t)
    {
        const double t2 = t * t, t3 = t * t * t, t4 = t * t * t * t;
        const double t5 = t4 * t;
        value[0] = 1 - 10 * t3 + 15 * t4 - 6 * t5;
        slope[0] = -30 * t2 + 60 * t3 - 30 * t4;
        value[1] = t - 6 * t3 + 8 * t4 - 3 * t5;
        slope[1] = 1 - 18 * t2 + 32 * t3 - 15 * t4;
        value[2] = 0.5 * (t2 - 3 * t3 + 3 * t4 - t5);
        slope[2] = 0.5 * (2 * t - 9 * t2 + 12 * t3 - 5 * t4);
        value[3] = 10 * t3 - 15 * t4 + 6 * t5;
        slope[3] = 30 * t2 - 60 * t3 + 30 * t4;
        value[4] = -4 * t3 + 7 * t4 - 3 * t5;
        slope[4] = -12 * t2 + 28 * t3 - 15 * t4;
        value[5] = 0.5 * (t3 - 2 * t4 + t5);
        slope[5] = 0.5 * (3 * t2 - 8 * t3 + 5 * t4);
    }
};

// Where a radius lies in the table.
struct Place {
    int k;
    double part;
    // -1 within the table's least radius, 1 beyond the largest, else 0.
    int beyond;
    double ratio;

    __device__ Place(const Expansion &e, double r) : k(0), part(0), beyond(0), ratio(1)
    {
        if (r >= e.most) {
            beyond = 1;
            k = e.radii - 1;
            ratio = r / e.most;
        } else if (r <= e.least) {
            beyond = -1;
            ratio = r / e.least;
        } else {
            const double place = ln(r / e.least) / e.step;
            // It is positive: the integer below.
            int below = 0;
            for (int half = 512; half > 0; half /= 2)
                if (double(below + half) <= place)
                    below += half;
            k = min(below, e.radii - 2);
            part = place - k;
        }
    }
};

// Potential of a multipole, and its derivative by ln r.
__device__ inline void radial(const Expansion &e, const Place &place, const Quintic &basis, int i, double (&sums)[2])
{
    const double *a = e.line(place.k, i);
    if (place.beyond != 0) {
        const double l = 2 * i;
        if (place.beyond < 0 && i == 0) {
            const double squared = place.ratio * place.ratio;
            sums[0] = a[0] + 0.5 * a[1] * (squared - 1);
            sums[1] = a[1] * squared;
            return;
        }
        const double p = place.beyond > 0 ? -(l + 1) : l;
        sums[0] = a[0] * power(place.ratio, p);
        sums[1] = p * sums[0];
        return;
    }
    const double *b = e.line(place.k + 1, i);
    const double h = e.step;
    const double knots[6] = {a[0], h * a[1], h * h * a[2], b[0], h * b[1], h * h * b[2]};
    sums[0] = sums[1] = 0;
#pragma unroll
    for (int k = 0; k < 6; k++) {
        sums[0] += knots[k] * basis.value[k];
        sums[1] += knots[k] * basis.slope[k] / h;
    }
}

// Legendre polynomials of even degree, one after the other.
struct Legendre {
    double x, before, before_slope, now, slope;
    int l;

    __device__ explicit Legendre(double x) : x(x), before(1), before_slope(0), now(x), slope(1), l(1) {}

    __device__ void advance()
    {
        const double n = l;
        const double next = ((2 * n + 1) * x * now - n * before) / (n + 1);
        const double next_slope = before_slope + (2 * n + 1) * now;
        before = now;
        before_slope = slope;
        now = next;
        slope = next_slope;
        l++;
    }
};

// Acceleration and potential of the expansion.
__device__ inline Vector expanded(const Expansion &e, Vector x, double &potential)
{
    const double r = fmax(sqrt(x.x * x.x + x.y * x.y + x.z * x.z), 1e-12);
    const double cos = x.z / r;
    const Place place(e, r);
    const Quintic basis(place.part);
    Legendre legendre(cos);
    double along = 0, across = 0;
    potential = 0;
    for (int i = 0; i < MULTIPOLES; i++) {
        if (i > 0) {
            legendre.advance();
            if (i > 1)
                legendre.advance();
        }
        const double value = i == 0 ? 1 : legendre.now, slope = i == 0 ? 0 : legendre.slope;
        double f[2];
        radial(e, place, basis, i, f);
        along += f[1] * value;
        across += f[0] * slope;
        potential += f[0] * value;
    }
    const double g = -along / (r * r), h = -across / r;
    const double inward = g - h * cos / r;
    return {inward * x.x, inward * x.y, inward * x.z + h};
}

// A disc: whether its height is exponential, central surface density, scale length, hole, scale height.
struct McMillanDisc {
    double is_exponential, density, length, hole, h;

    // Surface density and its derivative at a radius.
    __device__ void surface(double r, double &value, double &change) const
    {
        r = fmax(r, 1e-9);
        value = density * exponential(-hole / r - r / length);
        change = value * (hole / (r * r) - 1 / length);
    }

    // H(z) and its derivative.
    __device__ void over_height(double z, double &value, double &change) const
    {
        const double size = fabs(z) / h;
        const double sign = __double_as_longlong(z) < 0 ? -1 : 1;
        if (is_exponential != 0) {
            const double rest = -exponential_m1(-size);
            value = 0.5 * h * (size - rest);
            change = 0.5 * sign * rest;
        } else {
            const double e = exponential(-size);
            const double log = 0.5 * size + ln(0.5 * (1 + e));
            const double tanh = (1 - e) / (1 + e);
            value = h * log;
            change = 0.5 * sign * tanh;
        }
    }
};

struct McMillan {
    const double *table;
    int radii;

    __device__ Expansion expansion() const { return {table[0], table[1], table[2], radii, table + 5 + 5 * DISCS}; }

    __device__ McMillanDisc disc(int k) const
    {
        const double *from = table + 5 + 5 * k;
        return {from[0], from[1], from[2], from[3], from[4]};
    }

    // Acceleration and potential.
    __device__ Vector acceleration(Vector x, double &potential) const
    {
        constexpr double pi = 3.14159265358979323846;
        const Nfw halo = {table[3], table[4]};
        double of_rest;
        Vector a = expanded(expansion(), x, of_rest);
        add_scaled(a, 1, halo.acceleration(x));
        const double r = fmax(sqrt(dot(x, x)), 1e-9);
        double discs = 0;
        for (int k = 0; k < DISCS; k++) {
            double s, s_change, h, h_change;
            disc(k).surface(r, s, s_change);
            disc(k).over_height(x.z, h, h_change);
            add_scaled(a, -4.0 * pi * s_change * h / r, x);
            a.z -= 4.0 * pi * s * h_change;
            discs += 4.0 * pi * s * h;
        }
        potential = halo.potential(x) + of_rest + discs;
        return a;
    }
};
