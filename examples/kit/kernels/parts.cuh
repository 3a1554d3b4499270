// The parts of a galaxy's field that are closed formulae, as src/galaxy has them: the same operations in the same order, for the
// same bits.

#include "elementary.cuh"

struct Vector {
    double x, y, z;
};

__device__ inline double dot(Vector a, Vector b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

__device__ inline Vector scaled(double s, Vector a)
{
    return {s * a.x, s * a.y, s * a.z};
}

__device__ inline void add_scaled(Vector &a, double s, Vector b)
{
    a.x += s * b.x;
    a.y += s * b.y;
    a.z += s * b.z;
}

// component.rs: Plummer's sphere of the mass m and the scale length b.
struct Plummer {
    double m, b;

    __device__ double squared(Vector x) const { return dot(x, x) + b * b; }

    __device__ Vector acceleration(Vector x) const
    {
        const double s = squared(x);
        if (!(s > 0))
            return {0, 0, 0};
        return scaled(-m / (s * sqrt(s)), x);
    }

    __device__ double potential(Vector x) const
    {
        const double s = squared(x);
        return s > 0 ? -m / sqrt(s) : 0;
    }
};

// component.rs: the disc of Miyamoto and Nagai.
struct Disc {
    double m, a, b;

    __device__ Vector acceleration(Vector x) const
    {
        const double height = sqrt(x.z * x.z + b * b);
        const double with_a = a + height;
        const double s = x.x * x.x + x.y * x.y + with_a * with_a;
        const double g = -m / (s * sqrt(s));
        return {g * x.x, g * x.y, g * x.z * with_a / height};
    }

    __device__ double potential(Vector x) const
    {
        const double with_a = a + sqrt(x.z * x.z + b * b);
        return -m / sqrt(x.x * x.x + x.y * x.y + with_a * with_a);
    }
};

// component.rs: the halo of Allen and Santillan.
struct Halo {
    double m, a, p, cut;

    __device__ double rise(double r) const { return power(r / a, p - 1); }

    __device__ double mass(double r) const
    {
        r = fmin(r, cut);
        const double rise_here = rise(r);
        return m * (r / a) * rise_here / (1 + rise_here);
    }

    __device__ double pull(double r2) const
    {
        const double r = sqrt(r2);
        if (r == 0)
            return 0;
        if (r > cut)
            return mass(cut) / (r2 * r);
        const double rise_here = rise(r);
        const double part = rise_here / (1 + rise_here);
        return m / (a * r2) * part;
    }

    __device__ Vector acceleration(Vector x) const { return scaled(-pull(dot(x, x)), x); }

    __device__ double potential(Vector x) const
    {
        const double r = sqrt(dot(x, x));
        if (r > cut)
            return -mass(cut) / r;
        const double at_cut = rise(cut);
        const double inside = ln((1 + rise(r)) / (1 + at_cut)) / (p - 1);
        return m / a * (inside - at_cut / (1 + at_cut));
    }
};

// spheres.rs: radius that stands for the centre.
__device__ inline double radius(Vector x)
{
    return fmax(sqrt(dot(x, x)), 1e-12);
}

// spheres.rs: the acceleration by a sphere with this mass within the radius.
template <class Sphere> __device__ inline Vector of_sphere(const Sphere &sphere, Vector x)
{
    const double r = radius(x);
    return scaled(-sphere.mass(r) / (r * r * r), x);
}

// spheres.rs: the halo of Navarro, Frenk and White.
struct Nfw {
    double m, a;

    __device__ double mass(double r) const
    {
        const double s = r / a;
        if (s < 1e-3)
            return m * (s * s * (0.5 - s * (2.0 / 3.0 - s * (0.75 - 0.8 * s))));
        return m * (ln_1p(s) - s / (1 + s));
    }

    __device__ Vector acceleration(Vector x) const { return of_sphere(*this, x); }

    __device__ double potential(Vector x) const
    {
        const double r = radius(x);
        return -m * ln_1p(r / a) / r;
    }
};

// spheres.rs: the sphere of Hernquist.
struct Hernquist {
    double m, a;

    __device__ double mass(double r) const
    {
        const double part = r / (r + a);
        return m * (part * part);
    }

    __device__ Vector acceleration(Vector x) const { return of_sphere(*this, x); }

    __device__ double potential(Vector x) const { return -m / (radius(x) + a); }
};

// spheres.rs: the incomplete gamma function from x to infinity.
__device__ inline double upper_gamma(double a, double x, double gamma)
{
    const double head = power(x, a) * exponential(-x);
    if (x <= 0)
        return gamma;
    if (head == 0)
        return 0;
    if (x < a + 1) {
        double term = 1 / a, n = a;
        double sum = term;
        while (term > 1e-17 * sum) {
            n += 1;
            term *= x / n;
            sum += term;
        }
        return gamma - head * sum;
    }
    double b = x + 1 - a;
    double c = INFINITE, d = 1 / b;
    double fraction = d;
    for (int k = 1; k < 500; k++) {
        const double i = k;
        const double an = -i * (i - a);
        b += 2;
        d = 1 / (an * d + b);
        c = b + an / c;
        const double factor = c * d;
        fraction *= factor;
        if (fabs(factor - 1) < 1e-16)
            break;
    }
    return head * fraction;
}

// spheres.rs: a power law with an exponential cutoff.
struct PowerCutoff {
    double m, p, cut, gamma_mass, gamma_potential;

    __device__ double squared(double r) const
    {
        const double part = r / cut;
        return part * part;
    }

    __device__ double mass(double r) const
    {
        return m * (1 - upper_gamma(0.5 * (3 - p), squared(r), gamma_mass) / gamma_mass);
    }

    __device__ Vector acceleration(Vector x) const { return of_sphere(*this, x); }

    __device__ double potential(Vector x) const
    {
        const double r = radius(x);
        const double outside = upper_gamma(0.5 * (2 - p), squared(r), gamma_potential);
        return -mass(r) / r - m / (cut * gamma_mass) * outside;
    }
};

// bar.rs: the needle of Long and Murali, turned.
struct Bar {
    double m, a, b, c, sin, cos;

    __device__ Vector inward(Vector x) const { return {cos * x.x + sin * x.y, cos * x.y - sin * x.x, x.z}; }

    // x + sqrt(x^2 + w2) without loss of digits.
    __device__ static double sum(double x, double w2)
    {
        const double root = sqrt(x * x + w2);
        return x < 0 ? w2 / (root - x) : x + root;
    }

    __device__ Vector acceleration(Vector place) const
    {
        const Vector x = inward(place);
        const double height = sqrt(x.z * x.z + c * c);
        const double with_b = b + height;
        const double w2 = x.y * x.y + with_b * with_b;
        const double d[2] = {x.x - a, x.x + a};
        double along[2], side[2];
        for (int k = 0; k < 2; k++) {
            const double root = sqrt(d[k] * d[k] + w2);
            along[k] = 1 / root;
            side[k] = 1 / (root * sum(d[k], w2));
        }
        const double g = -0.5 * m / a;
        const double sideways = g * (side[0] - side[1]);
        const double lever = height > 0 ? x.z * with_b / height : 0;
        const Vector f = {g * (along[0] - along[1]), sideways * x.y, sideways * lever};
        return {cos * f.x - sin * f.y, cos * f.y + sin * f.x, f.z};
    }

    __device__ double potential(Vector place) const
    {
        const Vector x = inward(place);
        const double with_b = b + sqrt(x.z * x.z + c * c);
        const double w2 = x.y * x.y + with_b * with_b;
        return 0.5 * m / a * ln(sum(x.x - a, w2) / sum(x.x + a, w2));
    }
};
