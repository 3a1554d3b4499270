// Phase 6: sorts the stars by radius, and those of equal radius by label (src/sort.rs). A bitonic sort of a power of two of
// keys; each merge begins at both ends of its run, so that all runs ascend.

// Keys that a thread block sorts in shared memory, and its threads.
#define TILE 2048
#define THREADS 512
// The key behind the last star.
#define LAST 0xffffffffffffffffull

// The keys, which are the bits of the radii, and the places of the stars.
extern "C" __global__ void make_keys(unsigned long long *keys, int *places, const double *radii, int n)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    keys[k] = k < n ? (unsigned long long)__double_as_longlong(radii[k]) : LAST;
    places[k] = k;
}

// Puts two stars in order.
__device__ __forceinline__ void exchange(unsigned long long *keys, int *places, int low, int high, const unsigned long long *id)
{
    const unsigned long long a = keys[low], b = keys[high];
    if (a < b || a == LAST)
        return;
    const int first = places[low], second = places[high];
    if (a == b && id[first] < id[second])
        return;
    keys[low] = b;
    keys[high] = a;
    places[low] = second;
    places[high] = first;
}

// The steps of a merge of `size` keys from the stride `stride` on, within a tile; `stride` size / 2 is its first step.
__device__ __forceinline__ void merge(unsigned long long *keys, int *places, int size, int stride, const unsigned long long *id)
{
    for (; stride > 0; stride /= 2) {
        __syncthreads();
        for (int i = threadIdx.x; i < TILE / 2; i += THREADS) {
            const int within = i & (stride - 1), begin = 2 * (i - within);
            const int other = 2 * stride == size ? size - 1 - within : within + stride;
            exchange(keys, places, begin + within, begin + other, id);
        }
    }
}

// Sorts each tile, or, where `size` is not 0, ends the merge of `size` keys in it.
extern "C" __global__ void sort_tiles(unsigned long long *keys, int *places, const unsigned long long *id, int size)
{
    __shared__ unsigned long long near_keys[TILE];
    __shared__ int near_places[TILE];
    const int first = blockIdx.x * TILE;
    for (int i = threadIdx.x; i < TILE; i += THREADS) {
        near_keys[i] = keys[first + i];
        near_places[i] = places[first + i];
    }
    if (size > 0)
        merge(near_keys, near_places, size, TILE / 2, id);
    else
        for (int size = 2; size <= TILE; size *= 2)
            merge(near_keys, near_places, size, size / 2, id);
    __syncthreads();
    for (int i = threadIdx.x; i < TILE; i += THREADS) {
        keys[first + i] = near_keys[i];
        places[first + i] = near_places[i];
    }
}

// One step of a merge of `size` keys, larger than a tile: the exchanges at the distance `stride`.
extern "C" __global__ void merge_far(unsigned long long *keys, int *places, const unsigned long long *id, int size, int stride)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int within = i & (stride - 1), begin = 2 * (i - within);
    const int other = 2 * stride == size ? size - 1 - within : within + stride;
    exchange(keys, places, begin + within, begin + other, id);
}

// Puts the stars in the order of the keys: star `k` is the one that was at its place.
extern "C" __global__ void take(unsigned long long *to_id, double *to_m, double *to_r, double *to_vr, double *to_vt, double *to_start,
                                double *to_climb, const unsigned long long *id, const double *m, const double *r, const double *vr,
                                const double *vt, const double *start, const double *climb, const int *places, int n)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n)
        return;
    const int from = places[k];
    to_id[k] = id[from];
    to_m[k] = m[from];
    to_r[k] = r[from];
    to_vr[k] = vr[from];
    to_vt[k] = vt[from];
    to_start[k] = start[from];
    to_climb[k] = climb[from];
}
