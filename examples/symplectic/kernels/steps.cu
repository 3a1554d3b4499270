// Whole steps: the forces of all stars on all stars, kicks and drifts. The order of every sum depends on the number of stars
// alone, and src/resident/ has the same operations for the processor: the same bits.

#define TILE 128
#define STARS 256
#define QUANTITIES 7
#define LEAST_NORMAL 2.2250738585072014e-308

// 1 / sqrt(s) of a normal number: a guess from the bits of s, which errs by 3.4 %, and two steps of fourth order.
__device__ inline double inverse_root(double s)
{
    double y = __longlong_as_double(0x5fe6eb50c7b537a9ll - (__double_as_longlong(s) >> 1));
#pragma unroll
    for (int step = 0; step < 2; step++) {
        const double e = fma(-s * y, y, 1.0);
        y = fma(y * e, fma(fma(0.3125, e, 0.375), e, 0.5), y);
    }
    return y;
}

// The attraction of each star by the sources of one part: `chunk` stars that follow each other, summed in their order.
// `partial` is [part][three accelerations and a potential][star].
extern "C" __global__ void pairs(double *partial, const double *masses, const double *positions, double eps2, int chunk, int n)
{
    __shared__ double tile[TILE][4];
    const int tiles = (n + TILE - 1) / TILE;
    const int i = (blockIdx.x % tiles) * TILE + threadIdx.x;
    const int part = blockIdx.x / tiles;
    const int begin = part * chunk, end = min(begin + chunk, n);
    const int mine = min(i, n - 1);
    const double x = positions[3 * mine], y = positions[3 * mine + 1], z = positions[3 * mine + 2];
    double ax = 0, ay = 0, az = 0, potential = 0;
    for (int first = begin; first < end; first += TILE) {
        const int source = first + threadIdx.x;
        // Nobody writes the tile before everybody has read the one before.
        __syncthreads();
        if (source < end) {
            for (int k = 0; k < 3; k++)
                tile[threadIdx.x][k] = positions[3 * source + k];
            tile[threadIdx.x][3] = masses[source];
        }
        __syncthreads();
        const int count = min(TILE, end - first);
        for (int k = 0; k < count; k++) {
            const double dx = tile[k][0] - x, dy = tile[k][1] - y, dz = tile[k][2] - z;
            const double square = fma(dz, dz, fma(dy, dy, fma(dx, dx, eps2)));
            // A star does not attract itself, nor one that is in the same place without softening.
            const bool is_none = first + k == i || square < LEAST_NORMAL;
            const double root = inverse_root(is_none ? 1.0 : square);
            const double by_root = (is_none ? 0.0 : tile[k][3]) * root;
            const double factor = by_root * (root * root);
            ax = fma(factor, dx, ax);
            ay = fma(factor, dy, ay);
            az = fma(factor, dz, az);
            potential -= by_root;
        }
    }
    if (i < n) {
        double *to = partial + (size_t)part * 4 * n + i;
        to[0] = ax;
        to[n] = ay;
        to[2 * (size_t)n] = az;
        to[3 * (size_t)n] = potential;
    }
}

__device__ inline bool is_finite(double x)
{
    return (__double_as_longlong(x) & 0x7ff0000000000000ll) != 0x7ff0000000000000ll;
}

// Joins the parts of each star, and sums over STARS stars what all stars together need: mass times acceleration (3), the
// torque of the field (3), the change of the energy by that of the field. `fields` is 0 without a field, 2 for one that
// changes. `failed` counts stars with a force that is no finite number.
extern "C" __global__ void join(double *acc, double *pot, double *sums, int *failed, const double *partial, const double *masses,
                                const double *positions, const double *external, const double *changes, int fields, int parts, int n)
{
    __shared__ double terms[QUANTITIES][STARS];
    const int t = threadIdx.x, i = blockIdx.x * STARS + t;
    double term[QUANTITIES] = {0, 0, 0, 0, 0, 0, 0};
    if (i < n) {
        const double m = masses[i];
        double total[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            total[k] = partial[(size_t)k * n + i];
        for (int part = 1; part < parts; part++)
#pragma unroll
            for (int k = 0; k < 4; k++)
                total[k] += partial[((size_t)part * 4 + k) * n + i];
        bool is_good = is_finite(total[3]);
#pragma unroll
        for (int k = 0; k < 3; k++) {
            acc[3 * i + k] = total[k];
            term[k] = m * total[k];
            is_good = is_good && is_finite(total[k]);
        }
        pot[i] = total[3];
        if (fields) {
            const double x = positions[3 * i], y = positions[3 * i + 1], z = positions[3 * i + 2];
            const double gx = external[3 * i], gy = external[3 * i + 1], gz = external[3 * i + 2];
            term[3] = m * (y * gz - z * gy);
            term[4] = m * (z * gx - x * gz);
            term[5] = m * (x * gy - y * gx);
            is_good = is_good && is_finite(gx) && is_finite(gy) && is_finite(gz);
        }
        if (fields > 1)
            term[6] = m * changes[i];
        if (!is_good)
            atomicAdd(failed, 1);
    }
    for (int q = 0; q < QUANTITIES; q++)
        terms[q][t] = term[q];
    for (int half = STARS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half)
            for (int q = 0; q < QUANTITIES; q++)
                terms[q][t] += terms[q][t + half];
    }
    if (t == 0)
        for (int q = 0; q < QUANTITIES; q++)
            sums[q * gridDim.x + blockIdx.x] = terms[q][0];
}

// The totals of these sums: of the first three the mean, which is the acceleration of the centre of mass by rounding errors.
extern "C" __global__ void total(double *totals, const double *sums, double mass, int blocks)
{
    const int q = threadIdx.x;
    if (q >= QUANTITIES)
        return;
    double sum = sums[q * blocks];
    for (int block = 1; block < blocks; block++)
        sum += sums[q * blocks + block];
    totals[q] = q >= 3 ? sum : mass > 0 ? sum / mass : 0.0;
}

// Adds a term to a sum and to what its additions have rounded off, as Sum does.
__device__ inline void add(double *sum, double term)
{
    const double whole = sum[0] + term;
    sum[1] += fabs(sum[0]) >= fabs(term) ? (sum[0] - whole) + term : (term - whole) + sum[0];
    sum[0] = whole;
}

// Up to two kicks by the last forces, and a drift. `balance` has the time integrals of the torque (3) and of the energy by
// changes of the field, each a sum and what it has lost.
extern "C" __global__ void advance(double *positions, double *velocities, double *balance, const double *acc, const double *external,
                                   const double *totals, double first, double second, double drift, int kicks, int drifts, int fields,
                                   int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int k = 0; k < 3; k++) {
        double a = acc[3 * i + k] - totals[k];
        if (fields)
            a += external[3 * i + k];
        double v = velocities[3 * i + k];
        if (kicks > 0)
            v += first * a;
        if (kicks > 1)
            v += second * a;
        velocities[3 * i + k] = v;
        if (drifts)
            positions[3 * i + k] += drift * v;
    }
    if (i == 0)
        for (int kick = 0; kick < kicks; kick++)
            for (int q = 0; q < 4; q++)
                add(balance + 2 * q, (kick ? second : first) * totals[3 + q]);
}
