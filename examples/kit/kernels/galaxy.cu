// The field of a galaxy at the places of stars: one star a thread.

#include "multipole.cuh"

enum Kind { PLUMMER = 1, DISC, HALO, NFW, HERNQUIST, POWER_CUTOFF, MC_MILLAN, BAR };

// A part: its kind and the numbers of its structure. Those of a satellite end with its position and velocity. Written by words.rs.
struct Part {
    long long kind;
    double numbers[9];

    __device__ Vector position() const { return {numbers[3], numbers[4], numbers[5]}; }
    __device__ Vector velocity() const { return {numbers[6], numbers[7], numbers[8]}; }
};

// What a galaxy is at one time, besides its parts, as moment.rs has it. Written by words.rs.
struct Galaxy {
    // Unit of length; factors from the model's accelerations and potential changes to the cluster's.
    double length, acceleration, change;
    // Masses in parts of today's, and their change.
    double growth, growth_change;
    // Black hole.
    double hole_m, hole_b;
    // Whether it is all that there is.
    long long hole_is_alone;
    // Number of the parts of the model; whether a bar follows; number of satellites behind that.
    long long of_model, has_bar, satellites;
    // Number of radii in the expansion of McMillan's model.
    long long radii;
};

// Acceleration by a formula, and its potential where that is wanted.
template <class Formula> __device__ inline Vector of(const Formula &formula, Vector x, bool with_potential, double &potential)
{
    potential = with_potential ? formula.potential(x) : 0;
    return formula.acceleration(x);
}

// The same of a part.
__device__ inline Vector field(const Part &part, const McMillan &mcmillan, Vector x, bool with_potential, double &potential)
{
    const double *p = part.numbers;
    switch (part.kind) {
    case PLUMMER:
        return of(Plummer{p[0], p[1]}, x, with_potential, potential);
    case DISC:
        return of(Disc{p[0], p[1], p[2]}, x, with_potential, potential);
    case HALO:
        return of(Halo{p[0], p[1], p[2], p[3]}, x, with_potential, potential);
    case NFW:
        return of(Nfw{p[0], p[1]}, x, with_potential, potential);
    case HERNQUIST:
        return of(Hernquist{p[0], p[1]}, x, with_potential, potential);
    case POWER_CUTOFF:
        return of(PowerCutoff{p[0], p[1], p[2], p[3], p[4]}, x, with_potential, potential);
    case BAR:
        return of(Bar{p[0], p[1], p[2], p[3], p[4], p[5]}, x, with_potential, potential);
    default:
        return mcmillan.acceleration(x, potential);
    }
}

// The accelerations of the n stars at `positions`, and of each the change of its potential where `changes` is not 0.
extern "C" __global__ void galaxy(double *accelerations, double *potential_changes, const double *positions, const Galaxy *galaxy,
                                  const Part *parts, const double *table, int changes, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const Galaxy &g = *galaxy;
    const McMillan mcmillan = {table, int(g.radii)};
    const bool with_potential = changes != 0;
    const Vector star = {positions[3 * i], positions[3 * i + 1], positions[3 * i + 2]};
    const Vector x = scaled(g.length, star);
    Vector a = Plummer{g.hole_m, g.hole_b}.acceleration(star);
    Vector sum = {0, 0, 0};
    double depth = 0, of_bar = 0, of_satellites = 0, potential;
    // One loop, so that the formulae stand once in the machine code.
    const int grown = g.of_model + g.has_bar, all = grown + g.satellites;
    for (int k = 0; k < all; k++) {
        const Part &part = parts[k];
        const bool is_satellite = k >= grown;
        Vector from = x;
        if (is_satellite) {
            const Vector at = part.position();
            from = {x.x - at.x, x.y - at.y, x.z - at.z};
        }
        const Vector pull = field(part, mcmillan, from, with_potential && !is_satellite, potential);
        if (k == grown)
            sum = scaled(g.growth, sum);
        add_scaled(sum, 1, pull);
        if (is_satellite) {
            of_satellites += dot(part.velocity(), pull);
            continue;
        }
        depth += potential;
        if (k >= g.of_model) {
            const double speed = part.numbers[6];
            of_bar = dot({-speed * x.y, speed * x.x, 0}, pull);
        }
    }
    if (all == grown)
        sum = scaled(g.growth, sum);
    if (!g.hole_is_alone)
        add_scaled(a, g.acceleration, sum);
    accelerations[3 * i] = a.x;
    accelerations[3 * i + 1] = a.y;
    accelerations[3 * i + 2] = a.z;
    if (with_potential) {
        double change = g.growth_change * depth;
        change += g.growth * of_bar;
        change += of_satellites;
        potential_changes[i] = g.change * change;
    }
}
