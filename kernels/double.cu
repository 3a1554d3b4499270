// The kernels of the precision `double`.
#include "advance.cuh"
#include "force.cuh"

FORCE_KERNELS(Double, double, 3)
