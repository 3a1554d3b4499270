// The n-body kernels in single precision, in which the chapter's Table 7.7 was measured.
typedef float real_t;
typedef float2 vect_t;
#include "nbody.cuh"
