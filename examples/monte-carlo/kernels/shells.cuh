// The potential of concentric shells, and a star in it: src/potential.rs, src/orbit.rs. Products are rounded by themselves
// (--fmad=false), and each expression has the order of the Rust, so that the bits are those of the processor.

// Stars of a bin; of a run, and runs of a block, of the sums of masses; distance of the coarse nodes.
#define BIN 20
#define RUN 64
#define RUNS 64
#define COARSE 64

#define PI 3.141592653589793
#define INFINITE __longlong_as_double(0x7ff0000000000000ll)

// Potential and inverse radius at a star. Node 0 is the centre, node k the k-th star.
struct Node {
    double u, phi;
};

// Mass inside and sum of m/r outside, between a star and the next one outwards.
struct Between {
    double inside, outside;

    __device__ inline double phi(double u) const { return -(inside * u + outside); }
};

// The number of the thread.
__device__ inline int thread()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

// The first of the places from `found` to `end` for which `holds` is false; it is true up to there.
template <class Holds> __device__ inline int bisect(int found, int end, const Holds &holds)
{
    if (end <= found)
        return found;
    // At first the greatest power of two that is not above the length.
    for (int stride = int(0x80000000u >> __clz(end - found)); stride > 0; stride /= 2)
        if (found + stride <= end && holds(found + stride - 1))
            found += stride;
    return found;
}

// The same in two levels, of which the first looks at every COARSE-th place and asks `holds_at` with its number.
template <class HoldsAt, class Holds>
__device__ inline int bisect_coarsely(int found, int end, const HoldsAt &holds_at, const Holds &holds)
{
    const int first = (found + COARSE - 1) / COARSE;
    const int coarse = bisect(first, max((end + COARSE - 1) / COARSE, first), holds_at);
    if (coarse > first)
        found = (coarse - 1) * COARSE + 1;
    return bisect(found, max(min(end, coarse * COARSE), found), holds);
}

// How many of the radii from `begin` to `end` are not above r, and `begin`.
__device__ inline int up_to(const double *radii, int begin, int end, double r)
{
    return bisect(begin, end, [=](int at) { return radii[at] <= r; });
}

// An end of an orbit: its radius, the star next to it inwards, and the slope there.
struct Apsis {
    double r;
    int index;
    double slope;
};

// A star in the potential of the others.
struct Star {
    int index;
    double mass, u, phi, energy, momentum;

    __device__ inline Star(const Node &node, int index, double mass, double vr, double vt)
        : index(index), mass(mass), u(node.u), phi(node.phi + mass * node.u), energy(phi + 0.5 * (vr * vr + vt * vt)),
          momentum(vt / node.u)
    {
    }

    __device__ inline Between felt(const Between *between, int at) const
    {
        Between felt = between[at];
        if (at >= index)
            felt.inside -= mass;
        else
            felt.outside -= mass * u;
        return felt;
    }

    // The square of the radial velocity.
    __device__ inline double q(const Between &felt, double u) const
    {
        return 2.0 * (energy + felt.outside + felt.inside * u) - (momentum * u) * (momentum * u);
    }

    __device__ inline bool rises_to(const Node &node) const
    {
        const double j2 = momentum * momentum;
        return 2.0 * (energy - node.phi - mass * node.u) >= j2 * node.u * node.u;
    }

    __device__ inline bool stays_above(const Node &node) const
    {
        const double j2 = momentum * momentum;
        return 2.0 * (energy - node.phi - mass * u) < j2 * node.u * node.u;
    }

    __device__ inline double slope(const Between &felt, double depth) const
    {
        const double j2 = momentum * momentum;
        return sqrt(fmax(felt.inside * felt.inside + 2.0 * j2 * depth, 0.0));
    }

    __device__ inline Apsis apocentre(const Between *between, int at) const
    {
        const Between felt = this->felt(between, at);
        const double depth = energy + felt.outside;
        const double slope = this->slope(felt, depth);
        const double r = (felt.inside + slope) / (-2.0 * depth);
        return {fmax(r, 1.0 / u), at, slope};
    }

    __device__ inline Apsis pericentre(const Between *between, int at) const
    {
        const Between felt = this->felt(between, at);
        const double slope = this->slope(felt, energy + felt.outside);
        const double j2 = momentum * momentum;
        const double r = j2 > 0.0 ? j2 / (felt.inside + slope) : 0.0;
        return {fmin(r, 1.0 / u), at, slope};
    }
};
