// NBODY6's regular force and potential in the precision `double`.
#include "regular.cuh"

REGULAR_KERNELS(Double, double, 3, 2)
