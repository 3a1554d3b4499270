// The n-body kernels in double precision.
typedef double real_t;
typedef double2 vect_t;
#include "nbody.cuh"
