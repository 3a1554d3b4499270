// The kernel of examples/scale.rs: one number a thread.

extern "C" __global__ void scale(double *numbers, double factor, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        numbers[i] *= factor;
}
