/* A star of a Plummer model in N-body units, for the programs of this folder. The draws are the same in every run. */
#include <math.h>

static double uniform(void)
{
    static unsigned long long state = 1;
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static void on_sphere(double radius, double to[3])
{
    double z = 2 * uniform() - 1, phi = 2 * M_PI * uniform(), flat = sqrt(1 - z * z);
    to[0] = radius * flat * cos(phi);
    to[1] = radius * flat * sin(phi);
    to[2] = radius * z;
}

/* The radius of the model's unit sphere. */
static const double unit = 3 * M_PI / 16;

/* Draws position and velocity; returns the distance from the centre, at most 22. */
static double plummer_star(double x[3], double v[3])
{
    double r, q, g;
    do
        r = unit / sqrt(pow(uniform(), -2.0 / 3) - 1);
    while (r > 22);
    do {
        q = uniform();
        g = 0.1 * uniform();
    } while (g > q * q * pow(1 - q * q, 3.5));
    on_sphere(r, x);
    on_sphere(q * sqrt(2 / sqrt(r * r + unit * unit)), v);
    return r;
}
