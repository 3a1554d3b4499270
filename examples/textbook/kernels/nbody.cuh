// The basic n-body solver (sections 7.1.12 to 7.1.16): one particle a thread, two kernels a time step. Between two kernels
// all threads wait for each other. In the last kernel here they wait for each other in a barrier, so that it takes many time
// steps. A module says what `real_t` is, and what a vector of two of them.

// The force on the particle at `s_q` by that at `s_k`. Every product is rounded by itself (--fmad=false), as on the CPU:
// the same bits.
__device__ void add_force(vect_t *total, real_t g, real_t m_q, real_t m_k, vect_t s_q, vect_t s_k)
{
    const real_t x_diff = s_q.x - s_k.x, y_diff = s_q.y - s_k.y;
    const real_t dist = sqrt(x_diff * x_diff + y_diff * y_diff);
    const real_t dist_cubed = dist * dist * dist;
    const real_t factor = -g * m_q * m_k / dist_cubed;
    total->x += factor * x_diff;
    total->y += factor * y_diff;
}

// The force of all others on particle `q`; `position` reads one of them.
template <class Position>
__device__ vect_t total_force(const real_t *masses, real_t g, int q, int n, Position position)
{
    const real_t m_q = masses[q];
    const vect_t s_q = position(q);
    vect_t total = {0, 0};
    for (int k = 0; k < n; k++)
        if (k != q)
            add_force(&total, g, m_q, masses[k], s_q, position(k));
    return total;
}

// The force on each particle; every thread reads all particles from global memory.
extern "C" __global__ void compute_force(vect_t *forces, const real_t *masses, const vect_t *pos, real_t g, int n)
{
    const int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q < n)
        forces[q] = total_force(masses, g, q, n, [=](int k) { return pos[k]; });
}

// The same; a thread block reads the particles in tiles, each of its threads one particle of a tile.
extern "C" __global__ void compute_force_shared(vect_t *forces, const real_t *masses, const vect_t *pos, real_t g, int n)
{
    __shared__ real_t tile_masses[1024];
    __shared__ vect_t tile_pos[1024];
    const int q = blockIdx.x * blockDim.x + threadIdx.x;
    // A thread without a particle helps to load the tiles.
    const real_t m_q = q < n ? masses[q] : 0;
    const vect_t s_q = q < n ? pos[q] : vect_t{0, 0};
    vect_t total = {0, 0};
    for (int first = 0; first < n; first += blockDim.x) {
        const int mine = first + threadIdx.x;
        if (mine < n) {
            tile_masses[threadIdx.x] = masses[mine];
            tile_pos[threadIdx.x] = pos[mine];
        }
        // Nobody reads before everything is there ...
        __syncthreads();
        const int count = min(int(blockDim.x), n - first);
        if (q < n)
            for (int k = 0; k < count; k++)
                if (first + k != q)
                    add_force(&total, g, m_q, tile_masses[k], s_q, tile_pos[k]);
        // ... and nobody writes the next tile before everybody has read this one.
        __syncthreads();
    }
    if (q < n)
        forces[q] = total;
}

// Moves particle `q`: by Euler's method, or by leapfrog with positions half a step ahead.
__device__ void move(vect_t *pos, vect_t *vel, const real_t *masses, const vect_t *forces, real_t dt, int leapfrog, int q)
{
    vect_t s = pos[q], v = vel[q];
    const vect_t force = forces[q];
    const real_t dt_by_m = dt / masses[q];
    if (leapfrog) {
        v.x += dt_by_m * force.x;
        v.y += dt_by_m * force.y;
    }
    s.x += dt * v.x;
    s.y += dt * v.y;
    if (!leapfrog) {
        v.x += dt_by_m * force.x;
        v.y += dt_by_m * force.y;
    }
    pos[q] = s;
    vel[q] = v;
}

// Moves each particle.
extern "C" __global__ void update_pos_vel(vect_t *pos, vect_t *vel, const real_t *masses, const vect_t *forces, real_t dt,
                                          int leapfrog, int n)
{
    const int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q < n)
        move(pos, vel, masses, forces, dt, leapfrog, q);
}

// All threads of the grid wait for each other. The device must hold all blocks at a time: those that wait do not make room
// for others. `arrived` counts the blocks that have come to a barrier, from launch to launch, and `expected` is what it will
// be when all have come to this one. Both wrap around, so only their difference tells who is ahead.
__device__ void wait_for_all(unsigned *arrived, unsigned *expected)
{
    *expected += gridDim.x;
    // What this thread wrote is there for all ...
    __threadfence();
    // ... and so is what the other threads of its block wrote ...
    __syncthreads();
    // ... before the block counts as arrived.
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1u);
        while (int(atomicAdd(arrived, 0u) - *expected) < 0) {
        }
    }
    __syncthreads();
    // No later read is done before this.
    __threadfence();
}

// Many time steps in one cooperative launch (section 7.1.13). A thread has every `stride`th particle, so the grid may be
// smaller than n. `arrived` is as the launch before left it: at `expected`.
extern "C" __global__ void basic_steps(vect_t *pos, vect_t *vel, vect_t *forces, const real_t *masses, real_t g, real_t dt,
                                       int leapfrog, int n, int steps, unsigned *arrived, unsigned expected)
{
    const int first = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    for (int step = 0; step < steps; step++) {
        // Others wrote the positions during this launch: the multiprocessor's cache may have old ones.
        for (int q = first; q < n; q += stride)
            forces[q] = total_force(masses, g, q, n, [=](int k) { return __ldcg(&pos[k]); });
        // Nobody moves while others look ...
        wait_for_all(arrived, &expected);
        for (int q = first; q < n; q += stride)
            move(pos, vel, masses, forces, dt, leapfrog, q);
        // ... and nobody looks while others move.
        wait_for_all(arrived, &expected);
    }
}
