// A step of the cluster, phase after phase (src/cluster.rs). A thread has a star, a bin, a run or a block, as its first
// lines say. Sums have the processor's order, so that the bits are the same.
#include "stream.cuh"
#include "shells.cuh"
#include "relaxation.cuh"
#include "orbits.cuh"
#include "renewal.cuh"

// Leaves that a thread block joins, twice its threads.
#define LEAVES 512
// Numbers that are summed over each bin for the diagnostics.
#define SUMMED 5
// Neighbours of a star on each side between which its density is found.
#define DENSITY_NEIGHBOURS 3
// Lagrangian radii.
#define FRACTIONS 7

// Phase 1. The sums of a run of stars.
extern "C" __global__ void sum_runs(Between *runs, const double *m, const double *r, int n)
{
    const int run = thread();
    const int begin = run * RUN, end = min(begin + RUN, n);
    if (begin >= n)
        return;
    Between sum = {0.0, 0.0};
    for (int k = begin; k < end; k++)
        sum.inside += m[k];
    for (int k = end - 1; k >= begin; k--)
        sum.outside += m[k] * (1.0 / r[k]);
    runs[run] = sum;
}

// The sums of a block of runs.
extern "C" __global__ void sum_blocks(Between *blocks, const Between *runs, int count)
{
    const int block = thread();
    const int begin = block * RUNS, end = min(begin + RUNS, count);
    if (begin >= count)
        return;
    Between sum = {0.0, 0.0};
    for (int k = begin; k < end; k++)
        sum.inside += runs[k].inside;
    for (int k = end - 1; k >= begin; k--)
        sum.outside += runs[k].outside;
    blocks[block] = sum;
}

// Makes of the sums of the blocks those before each block and behind it, and the values at the centre. One thread block of
// two warps: one sums from inside, one from outside.
extern "C" __global__ void add_blocks(Between *blocks, Node *nodes, Node *coarse, Between *between, int count)
{
    if (threadIdx.x == 0) {
        double inside = 0.0;
        for (int k = 0; k < count; k++) {
            const double sum = blocks[k].inside;
            blocks[k].inside = inside;
            inside += sum;
        }
        between[0].inside = 0.0;
    } else if (threadIdx.x == 32) {
        double outside = 0.0;
        for (int k = count - 1; k >= 0; k--) {
            const double sum = blocks[k].outside;
            blocks[k].outside = outside;
            outside += sum;
        }
        between[0].outside = outside;
        nodes[0] = {INFINITE, -outside};
        coarse[0] = {INFINITE, -outside};
    }
}

// The potential at the stars of a run and between them.
extern "C" __global__ void fill_potential(Node *nodes, Node *coarse, Between *between, const Between *blocks, const Between *runs,
                                          const double *m, const double *r, int n)
{
    const int run = thread(), block = run / RUNS;
    const int begin = run * RUN, end = min(begin + RUN, n);
    if (begin >= n)
        return;
    Between around = blocks[block];
    for (int k = block * RUNS; k < run; k++)
        around.inside += runs[k].inside;
    const int count = (n + RUN - 1) / RUN;
    for (int k = min(block * RUNS + RUNS, count) - 1; k > run; k--)
        around.outside += runs[k].outside;
    for (int k = begin; k < end; k++) {
        around.inside += m[k];
        between[k + 1].inside = around.inside;
    }
    for (int k = end - 1; k >= begin; k--) {
        const double u = 1.0 / r[k];
        const Between here = {between[k + 1].inside, around.outside};
        const Node node = {u, here.phi(u)};
        between[k + 1].outside = around.outside;
        nodes[k + 1] = node;
        if ((k + 1) % COARSE == 0)
            coarse[(k + 1) / COARSE] = node;
        around.outside += m[k] * u;
    }
}

// What the bins find together in phase 2, as bits: the least relaxation times with the term for friction and without it, and the largest mass.
struct Least {
    Word with, without, heaviest;
};

// Phase 2. The moments of a whole bin. The times of `least` become infinite.
extern "C" __global__ void bin_moments(Moments *moments, Least *least, const double *m, const double *vr,
                                       const double *vt, int bins)
{
    const int bin = thread();
    if (bin == 0)
        *least = {(Word)__double_as_longlong(INFINITE), (Word)__double_as_longlong(INFINITE), 0};
    if (bin >= bins)
        return;
    Moments sums = {double(BIN), 0.0, 0.0, 0.0, 0.0};
    for (int k = bin * BIN; k < bin * BIN + BIN; k++) {
        const double v2 = vr[k] * vr[k] + vt[k] * vt[k];
        sums.mass += m[k];
        sums.square += m[k] * m[k];
        sums.energy += m[k] * v2;
        sums.heaviest = fmax(sums.heaviest, m[k]);
    }
    moments[bin] = sums;
}

// Equation 7 for a whole bin and its neighbours. `angle` is (theta_max / (pi/2))^2 pi/32.
extern "C" __global__ void least_relaxation(Least *least, const Moments *moments, const double *radii, int bins,
                                            double angle, double coulomb, double root_pi)
{
    const int bin = thread();
    if (bin >= bins)
        return;
    const int begin = max(bin - NEIGHBOURS, 0), end = min(bin + NEIGHBOURS + 1, bins);
    Moments sums = {0.0, 0.0, 0.0, 0.0, 0.0};
    for (int k = begin; k < end; k++) {
        sums.count += moments[k].count;
        sums.mass += moments[k].mass;
        sums.square += moments[k].square;
        sums.energy += moments[k].energy;
        sums.heaviest = fmax(sums.heaviest, moments[k].heaviest);
    }
    const double density = density_between(radii, begin * BIN, end * BIN);
    const double sigma = sqrt(sums.energy / (3.0 * sums.mass));
    const double speed = 4.0 * sigma / root_pi;
    const double mean = sums.mass / sums.count;
    const double equal = 2.0 * sums.square / sums.count + 2.0 * mean * mean;
    const double masses = equal + FRICTION * mean * (sums.heaviest - mean);
    const double with = angle * speed * speed * speed / (coulomb * density * masses);
    const double without = angle * speed * speed * speed / (coulomb * density * equal);
    if (with > 0.0) {
        atomicMin(&least->with, (Word)__double_as_longlong(with));
        atomicMin(&least->without, (Word)__double_as_longlong(without));
    }
    atomicMax(&least->heaviest, (Word)__double_as_longlong(moments[bin].heaviest));
}

// Phase 3. The encounters of the stars of a bin.
extern "C" __global__ void relax(Stream *streams, double *vr, double *vt, const double *m, const double *radii, int n, double coulomb,
                                 double dt, int encounters)
{
    const int bin = thread(), begin = bin * BIN;
    if (begin >= n)
        return;
    const int count = min(BIN, n - begin), first = min(begin, n - BIN);
    const double rate = 2.0 * PI * density_between(radii, first, first + BIN) * coulomb * dt;
    double own_m[BIN], own_vr[BIN], own_vt[BIN];
    for (int k = 0; k < count; k++) {
        own_m[k] = m[begin + k];
        own_vr[k] = vr[begin + k];
        own_vt[k] = vt[begin + k];
    }
    Stream stream = streams[bin];
    deflect(count, rate, encounters, own_m, own_vr, own_vt, stream);
    streams[bin] = stream;
    for (int k = 0; k < count; k++) {
        vr[begin + k] = own_vr[k];
        vt[begin + k] = own_vt[k];
    }
}

// In a tidal field, before the encounters: keeps what they change, the streams of the bins and the velocities of the stars.
extern "C" __global__ void keep(Stream *kept_streams, double *kept_vr, double *kept_vt, const Stream *streams, const double *vr,
                                const double *vt, int n)
{
    const int k = thread();
    if (k >= n)
        return;
    kept_vr[k] = vr[k];
    kept_vt[k] = vt[k];
    if (k * BIN < n)
        kept_streams[k] = streams[k];
}

// Takes out the stars of a bin that are beyond the tidal boundary: the largest apocentre, or, with `by_energy`, the largest energy
// (src/tide.rs). `told` is the mass that leaves, and `staying` counts those who stay.
extern "C" __global__ void strip(double *told, int *staying, Orbit *orbits, const double *m, const double *radii,
                                 const double *vr, const double *vt, const Node *nodes, const Between *between, int n, double limit,
                                 int by_energy)
{
    const int bin = thread(), begin = bin * BIN;
    if (begin >= n)
        return;
    const int inside = by_energy ? 0 : up_to(radii, 0, n, limit);
    const double u = 1.0 / limit;
    double mass = 0.0;
    int stay = 0;
    for (int k = begin; k < min(begin + BIN, n); k++) {
        if (orbits[k].near_index == GONE)
            continue;
        const Star star(nodes[k + 1], k + 1, m[k], vr[k], vt[k]);
        const bool leaves = by_energy ? star.energy > limit : star.u < u || star.q(star.felt(between, inside), u) > 0.0;
        if (leaves) {
            mass += star.mass;
            orbits[k].near_index = GONE;
        } else {
            stay++;
        }
    }
    told[bin] = mass;
    atomicAdd(staying, stay);
}

// Phase 5. The orbit of a star that gets a new position; the others stay where they are. A star that is not bound gets an infinite radius, and is
// counted.
extern "C" __global__ void find_orbits(Orbit *orbits, double *to, double *climb, int *leaving, const Word *ids, const double *m,
                                       const double *radii, const double *vr, const double *vt, const Node *nodes,
                                       const Node *coarse, const Between *between, int n, double part, double heaviest, Word step)
{
    const int k = thread();
    if (k >= n)
        return;
    const Star star(nodes[k + 1], k + 1, m[k], vr[k], vt[k]);
    if (orbits[k].near_index == GONE || star.energy >= 0.0) {
        to[k] = INFINITE;
        climb[k] = star.phi;
        orbits[k].near_index = NOWHERE;
        atomicAdd(leaving, 1);
        return;
    }
    to[k] = radii[k];
    climb[k] = 0.0;
    if (Renewal{part, heaviest, step}.has(ids[k], star.mass))
        orbits[k] = orbit_of(star, nodes, coarse, between, n);
    else
        orbits[k].near_index = NOWHERE;
}

// Places on the orbits of the stars of a bin. In each round every star without a place draws a point; then those of which the
// point is taken draw the sign of their velocity. So a second stream, ahead by the points of the round, has the signs.
extern "C" __global__ void find_places(Stream *streams, Orbit *orbits, double *to, double *climb, double *vr, double *vt,
                                       const double *m, const double *radii, const Node *nodes, const Between *between, int n)
{
    const int bin = thread(), begin = bin * BIN;
    if (begin >= n)
        return;
    const int count = min(BIN, n - begin);
    unsigned waiting = 0;
    for (int k = 0; k < count; k++)
        if (orbits[begin + k].near_index >= 0)
            waiting |= 1u << k;
    Stream stream = streams[bin];
    for (int round = 0; waiting != 0 && round < MOST_ROUNDS; round++) {
        Stream points = stream;
        for (int k = 2 * __popc(waiting); k > 0; k--)
            stream.next();
        // The threads of a warp draw for their own next stars at the same time, whatever the numbers of these are.
        for (unsigned rest = waiting; rest != 0; rest &= rest - 1) {
            const unsigned lowest = rest & (0u - rest);
            const int k = begin + __popc(lowest - 1);
            const Star star(nodes[k + 1], k + 1, m[k], vr[k], vt[k]);
            Orbit orbit = orbits[k];
            Place place;
            if (draw(star, orbit, between, radii, points, place)) {
                waiting &= ~lowest;
                const bool inwards = stream.next() >> 31 == 1;
                to[k] = place.r;
                vr[k] = inwards ? -place.vr : place.vr;
                vt[k] = star.momentum / place.r;
                climb[k] = place.phi - star.phi;
            } else {
                orbits[k].bound = orbit.bound;
            }
        }
    }
    streams[bin] = stream;
}

// Phase 7. v^2 that the correction gives a star. `start` is where it was, `climb` the change of the old potential on its way.
extern "C" __global__ void correct(double *squares, const double *m, const double *radii, const double *vr, const double *vt,
                                   const double *start, const double *climb, const Node *nodes, const Between *between, int n)
{
    const int k = thread();
    if (k >= n)
        return;
    const Node node = nodes[k + 1];
    const double u = 1.0 / start[k];
    const double there = between[up_to(radii, 0, n, start[k])].phi(u) + m[k] * fmin(u, node.u);
    const double v2 = vr[k] * vr[k] + vt[k] * vt[k];
    squares[k] = v2 + climb[k] + there - (node.phi + m[k] * node.u);
}

// Gives the stars of a bin the corrected velocities: src/correction.rs. `told` is what the bin cannot pay.
extern "C" __global__ void pay(double *told, double *vr, double *vt, const double *m, const double *squares, int n)
{
    const int bin = thread(), begin = bin * BIN;
    if (begin >= n)
        return;
    double debt = 0.0;
    for (int k = begin; k < min(begin + BIN, n); k++) {
        const double v2 = vr[k] * vr[k] + vt[k] * vt[k];
        double square = squares[k];
        if (square <= 0.0 || v2 == 0.0) {
            debt += 0.5 * m[k] * (v2 - square);
            continue;
        }
        if (debt > 0.0) {
            const double paid = fmin(debt, 0.5 * 0.5 * m[k] * square);
            square -= 2.0 * paid / m[k];
            debt -= paid;
        }
        const double scale = sqrt(square / v2);
        vr[k] = vr[k] * scale;
        vt[k] = vt[k] * scale;
    }
    told[bin] = debt;
}

// Multiplies the velocities of all stars.
extern "C" __global__ void scale_velocities(double *vr, double *vt, double scale, int n)
{
    const int k = thread();
    if (k >= n)
        return;
    vr[k] *= scale;
    vt[k] *= scale;
}

// The density at star k: src/diagnostics.rs.
__device__ inline double density_at(const double *radii, const Between *between, int k, int n)
{
    if (k + DENSITY_NEIGHBOURS >= n)
        return 0.0;
    const double outer = radii[k + DENSITY_NEIGHBOURS];
    const bool central = k < DENSITY_NEIGHBOURS;
    const double inner = central ? 0.0 : radii[k - DENSITY_NEIGHBOURS];
    const double inside = between[central ? 0 : k - DENSITY_NEIGHBOURS + 1].inside;
    const double mass = between[k + DENSITY_NEIGHBOURS].inside - inside;
    const double volume = 4.0 / 3.0 * PI * (outer * outer * outer - inner * inner * inner);
    return volume > 0.0 ? mass / volume : 0.0;
}

// What is summed over a bin: src/diagnostics.rs.
extern "C" __global__ void diagnose(double *leaves, const double *m, const double *radii, const double *vr, const double *vt,
                                    const Node *nodes, const Between *between, int n)
{
    const int bin = thread(), begin = bin * BIN;
    if (begin >= n)
        return;
    double sums[SUMMED] = {0.0, 0.0, 0.0, 0.0, 0.0};
    for (int k = begin; k < min(begin + BIN, n); k++) {
        const Node node = nodes[k + 1];
        const double density = density_at(radii, between, k, n);
        sums[0] += 0.5 * m[k] * (vr[k] * vr[k] + vt[k] * vt[k]);
        sums[1] += 0.5 * m[k] * (node.phi + m[k] * node.u);
        sums[2] += density;
        sums[3] += density * radii[k];
        sums[4] += density * density;
    }
    for (int c = 0; c < SUMMED; c++)
        leaves[bin * SUMMED + c] = sums[c];
}

// Joins LEAVES sums of `width` numbers along the library's binary tree (src/core/sources/sum_tree.rs); a thread block each.
extern "C" __global__ void join(double *joined, const double *leaves, int count, int width)
{
    __shared__ double sums[LEAVES];
    const int first = blockIdx.x * LEAVES, own = min(LEAVES, count - first);
    for (int c = 0; c < width; c++) {
        for (int k = threadIdx.x; k < own; k += blockDim.x)
            sums[k] = leaves[(first + k) * width + c];
        for (int half = 1; half < LEAVES; half *= 2) {
            __syncthreads();
            const int k = 2 * half * threadIdx.x;
            if (k + half < own)
                sums[k] += sums[k + half];
        }
        if (threadIdx.x == 0)
            joined[blockIdx.x * width + c] = sums[0];
        __syncthreads();
    }
}

// What follows from the sums over all bins: core radius, number of stars within it, mass, Lagrangian radii.
extern "C" __global__ void summarize(double *summary, const double *sums, const double *fractions, const double *radii,
                                     const Between *between, int n)
{
    const double mass = between[n].inside;
    if (threadIdx.x < FRACTIONS) {
        const double wanted = fractions[threadIdx.x] * mass;
        const int star = bisect(0, n, [=](int at) { return between[at + 1].inside < wanted; });
        summary[3 + threadIdx.x] = radii[min(star, n - 1)];
    } else if (threadIdx.x == FRACTIONS) {
        const double core_radius = sums[3] / sums[2];
        summary[0] = core_radius;
        summary[1] = up_to(radii, 0, n, core_radius);
        summary[2] = mass;
    }
}

// A star that has left, of those behind the n that stay: label, mass, radius from which it left, v^2 there, and the potential
// of the others there before and after.
struct Leaver {
    unsigned long long id;
    double m, start, v2, phi, there;
};

extern "C" __global__ void list_leaving(Leaver *leavers, const unsigned long long *id, const double *m, const double *vr,
                                        const double *vt, const double *start, const double *climb, const double *radii,
                                        const Between *between, int n, int count)
{
    const int k = thread();
    if (k >= count)
        return;
    const int at = n + k;
    const double there = between[up_to(radii, 0, n, start[at])].phi(1.0 / start[at]);
    leavers[k] = {id[at], m[at], start[at], vr[at] * vr[at] + vt[at] * vt[at], climb[at], there};
}
