// Sample sort (section 7.2) on a GPU. The sample is sorted by one thread block; then thread blocks deal the keys into
// buckets, and each bucket is sorted by one thread block.
#include "bitonic.cuh"

// Most keys of a bucket that are sorted in shared memory, and most buckets.
#define NEAR_KEYS 2048
#define MOST_BUCKETS 1024

// Sorts each bucket: bucket b begins at `begins[b * stride]`, the last ends at n.
extern "C" __global__ void sort_buckets(int *keys, const int *begins, int stride, int n)
{
    __shared__ int near[NEAR_KEYS];
    const int begin = begins[blockIdx.x * stride];
    const int end = blockIdx.x + 1 < gridDim.x ? begins[(blockIdx.x + 1) * stride] : n;
    const int count = end - begin;
    if (count > NEAR_KEYS) {
        sort_in_block(keys + begin, count);
        return;
    }
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        near[i] = keys[begin + i];
    __syncthreads();
    sort_in_block(near, count);
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        keys[begin + i] = near[i];
}

// `count` of the n keys, at equal distances.
extern "C" __global__ void take_sample(int *sample, int count, const int *keys, int n)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < count)
        sample[k] = keys[(2 * k + 1) * (long long)n / (2 * count)];
}

// Every so many-th key of the sorted sample is a splitter; one fewer than there are buckets.
__device__ void load_splitters(int *splitters, int buckets, const int *sample, int count)
{
    for (int b = threadIdx.x + 1; b < buckets; b += blockDim.x)
        splitters[b - 1] = sample[b * (long long)count / buckets];
}

// The number of splitters that are not above the key.
__device__ int bucket_of(int key, const int *splitters, int buckets)
{
    int low = 0, high = buckets - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (splitters[middle] <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// The keys of this thread block: a run of them.
__device__ void my_keys(int *begin, int *end, int n)
{
    const int each = (n + gridDim.x - 1) / gridDim.x;
    *begin = min(n, int(blockIdx.x) * each);
    *end = min(n, *begin + each);
}

// How many keys each thread block has for each bucket: counts[bucket * gridDim.x + block].
extern "C" __global__ void count_keys(int *counts, int buckets, const int *sample, int count, const int *keys, int n)
{
    __shared__ int splitters[MOST_BUCKETS], mine[MOST_BUCKETS];
    load_splitters(splitters, buckets, sample, count);
    for (int b = threadIdx.x; b < buckets; b += blockDim.x)
        mine[b] = 0;
    __syncthreads();
    int begin, end;
    my_keys(&begin, &end, n);
    for (int i = begin + threadIdx.x; i < end; i += blockDim.x)
        atomicAdd(&mine[bucket_of(keys[i], splitters, buckets)], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < buckets; b += blockDim.x)
        counts[b * gridDim.x + blockIdx.x] = mine[b];
}

// The sum of what the lanes up to this one have.
__device__ int sum_in_warp(int value)
{
    for (int by = 1; by < WARP; by *= 2) {
        const int before = __shfl_up_sync(ALL_LANES, value, by);
        if (threadIdx.x % WARP >= by)
            value += before;
    }
    return value;
}

// Makes of each of m counts the sum of those before it. One thread block of 1024 threads: sums within warps by shuffles,
// then the sums of the warps.
extern "C" __global__ void sum_counts(int *counts, int m)
{
    __shared__ int warps[WARP];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    int before = 0; // of all counts before these 1024
    for (int first = 0; first < m; first += blockDim.x) {
        const int i = first + threadIdx.x;
        const int value = i < m ? counts[i] : 0;
        const int in_warp = sum_in_warp(value);
        if (lane == WARP - 1)
            warps[warp] = in_warp;
        __syncthreads();
        const int of_warp = warps[lane];
        const int up_to = sum_in_warp(of_warp);
        const int total = __shfl_sync(ALL_LANES, up_to, WARP - 1);
        const int others = __shfl_sync(ALL_LANES, up_to - of_warp, warp);
        if (i < m)
            counts[i] = before + others + in_warp - value;
        before += total;
        __syncthreads();
    }
}

// Puts each key where its bucket and its thread block have room for it.
extern "C" __global__ void deal_keys(int *dealt, const int *begins, int buckets, const int *sample, int count,
                                     const int *keys, int n)
{
    __shared__ int splitters[MOST_BUCKETS], next[MOST_BUCKETS];
    load_splitters(splitters, buckets, sample, count);
    for (int b = threadIdx.x; b < buckets; b += blockDim.x)
        next[b] = begins[b * gridDim.x + blockIdx.x];
    __syncthreads();
    int begin, end;
    my_keys(&begin, &end, n);
    for (int i = begin + threadIdx.x; i < end; i += blockDim.x)
        dealt[atomicAdd(&next[bucket_of(keys[i], splitters, buckets)], 1)] = keys[i];
}
