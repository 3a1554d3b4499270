// New orbits, and places on them: src/orbit.rs, src/position.rs.

// By how much the bound stands above g at both ends; part of the radius below which an orbit is a circle; rounds of drawing.
#define MARGIN 1.2
#define CIRCLE 1e-13
#define MOST_ROUNDS 100000
// The index of an orbit on which no place is drawn, and of that of a star that has left.
#define NOWHERE (-1)
#define GONE (-2)

// An orbit: its ends, the bound of g, and the stars next to the ends inwards.
struct Orbit {
    double near, far, bound;
    int near_index, far_index;
};

// The value of g at an end. A slope of 0 belongs to no orbit of finite width but for rounding.
__device__ inline double g_at_end(const Apsis &apsis, double width)
{
    const double g = apsis.r * sqrt(1.5 * width / apsis.slope);
    return isfinite(g) ? g : 0.0;
}

// The orbit of a bound star.
__device__ inline Orbit orbit_of(const Star &star, const Node *nodes, const Node *coarse, const Between *between, int n)
{
    const int inner = bisect_coarsely(
        1, star.index, [&](int at) { return star.stays_above(coarse[at]); },
        [&](int at) { return star.stays_above(nodes[at]); });
    const int outer = bisect_coarsely(
        star.index + 1, n + 1, [&](int at) { return star.rises_to(coarse[at]); },
        [&](int at) { return star.rises_to(nodes[at]); });
    const Apsis near = star.pericentre(between, inner - 1), far = star.apocentre(between, outer - 1);
    const double width = far.r - near.r;
    if (width <= CIRCLE * far.r)
        return {near.r, far.r, 0.0, NOWHERE, NOWHERE};
    return {near.r, far.r, MARGIN * fmax(g_at_end(near, width), g_at_end(far, width)), near.index, far.index};
}

// Where a star is put.
struct Place {
    double r, vr, phi;
};

// Draws a point of an orbit. Whether it is under g, and then the place; the sign of its velocity is not drawn yet.
__device__ inline bool draw(const Star &star, Orbit &orbit, const Between *between, const double *radii, Stream &stream, Place &place)
{
    const double width = orbit.far - orbit.near;
    const double s = 2.0 * stream.uniform() - 1.0;
    const double height = stream.uniform();
    const double r = 0.5 * (orbit.near + orbit.far) + 0.25 * width * s * (3.0 - s * s);
    const Between felt = star.felt(between, up_to(radii, orbit.near_index, orbit.far_index, r));
    const double u = 1.0 / r, q = star.q(felt, u);
    // Rounding next to an end.
    if (q <= 0.0 || !isfinite(q))
        return false;
    const double speed = sqrt(q);
    const double g = 0.75 * width * (1.0 - s * s) / speed;
    if (g > orbit.bound) {
        orbit.bound = MARGIN * g;
        return false;
    }
    if (orbit.bound * height >= g)
        return false;
    place = {r, speed, felt.phi(u)};
    return true;
}
