// Bitonic sort by one thread block: 32 keys in the registers of a warp, more of them in shared memory or, where they are too
// many, in global memory.

// What stands behind the end of a list.
#define LAST_KEY 0x7fffffff
#define WARP 32
#define ALL_LANES 0xffffffffu

// The smaller of two lanes' keys in the lane whose bit `upper` is 0, the larger in the other.
__device__ int exchanged(int key, int with, int upper)
{
    const int other = __shfl_xor_sync(ALL_LANES, key, with);
    return (threadIdx.x & upper) ? max(key, other) : min(key, other);
}

// The last steps of a merge, those of distances below a warp's size: each warp takes 32 keys into its registers. With `all`,
// the merges of 2, 4, ... 32 keys.
__device__ void sort_in_warps(int *keys, int n, bool all)
{
    const int lane = threadIdx.x % WARP;
    for (int first = threadIdx.x - lane; first < n; first += blockDim.x) {
        const int i = first + lane;
        int key = i < n ? keys[i] : LAST_KEY;
        for (int size = all ? 2 : WARP; size <= WARP; size *= 2) {
            // A merge begins at both ends of its keys: so that all lists ascend, and what is behind the end stays there.
            key = all ? exchanged(key, size - 1, size / 2) : exchanged(key, size / 2, size / 2);
            for (int stride = size / 4; stride > 0; stride /= 2)
                key = exchanged(key, stride, stride);
        }
        if (i < n)
            keys[i] = key;
    }
}

__device__ void exchange(int *keys, int low, int high, int n)
{
    if (high >= n)
        return; // behind the end: as large as can be
    const int a = keys[low], b = keys[high];
    if (b < a) {
        keys[low] = b;
        keys[high] = a;
    }
}

// Sorts the keys by one thread block.
__device__ __forceinline__ void sort_in_block(int *keys, int n)
{
    sort_in_warps(keys, n, true);
    for (int size = 2 * WARP; size / 2 < n; size *= 2) {
        const int pairs = (n + size - 1) / size * (size / 2);
        __syncthreads();
        for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
            const int within = i & (size / 2 - 1), begin = 2 * (i - within);
            exchange(keys, begin + within, begin + size - 1 - within, n);
        }
        for (int stride = size / 4; stride >= WARP; stride /= 2) {
            __syncthreads();
            for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
                const int within = i & (stride - 1), begin = 2 * (i - within);
                exchange(keys, begin + within, begin + within + stride, n);
            }
        }
        __syncthreads();
        sort_in_warps(keys, n, false);
    }
    __syncthreads();
}
