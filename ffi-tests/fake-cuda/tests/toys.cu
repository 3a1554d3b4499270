// Small kernels, right ones and wrong ones, that test the shim and the fake driver.
#include "shim.h"

struct ToyArgs {
    int *to;
    const int *from;
    unsigned n;
    unsigned by;
};

// Each block reverses its piece.
KERNEL(reverse, ToyArgs, 256)
{
    __shared__ int piece[256];
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    piece[threadIdx.x] = a.from[i];
    __syncthreads();
    a.to[i] = piece[blockDim.x - 1 - threadIdx.x];
}

// The same without the barrier.
KERNEL(reverse_without_barrier, ToyArgs, 256)
{
    __shared__ int piece[256];
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    piece[threadIdx.x] = a.from[i];
    a.to[i] = piece[blockDim.x - 1 - threadIdx.x];
}

// The sum of all, by a tree in each block.
KERNEL(tree_sum, ToyArgs, 256)
{
    __shared__ int sums[256];
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    sums[threadIdx.x] = i < a.n ? a.from[i] : 0;
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        atomicAdd(a.to, sums[0]);
}

// Counts without an atomic operation.
KERNEL(race, ToyArgs, 256) { a.to[0] += 1; }

// Some threads end, the others wait.
KERNEL(divergent_end, ToyArgs, 256)
{
    if (threadIdx.x < a.by)
        __syncthreads();
    a.to[threadIdx.x] = 1;
}

// Odd and even threads wait at different places.
KERNEL(divergent_places, ToyArgs, 256)
{
    if (threadIdx.x % 2)
        __syncthreads();
    else
        __syncthreads();
    a.to[threadIdx.x] = 1;
}

// Whether any thread found `by`, then whether any found `by` + 1.
KERNEL(any, ToyArgs, 256)
{
    const int found = __syncthreads_or(a.from[threadIdx.x] == int(a.by));
    const int next = __syncthreads_or(a.from[threadIdx.x] == int(a.by) + 1);
    a.to[threadIdx.x] = (found != 0) * 2 + (next != 0);
}

// Where each thread of a grid of three dimensions is.
KERNEL(place, ToyArgs, 256)
{
    const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    a.to[block * (blockDim.x * blockDim.y * blockDim.z) + thread] = int(block * 1000 + thread);
}

// Writes `by` elements after its own.
KERNEL(offset, ToyArgs, 256)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < a.n)
        a.to[i + a.by] = int(i);
}

// Reads `by` elements after its own.
KERNEL(copy, ToyArgs, 256)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < a.n)
        a.to[i] = a.from[i + a.by];
}

// Many barriers.
KERNEL(barriers, ToyArgs, 256)
{
    for (unsigned i = 0; i < a.by; i++)
        __syncthreads();
    a.to[threadIdx.x] = int(a.by);
}
