// The kernels of the precision `double-single`.
#include "advance.cuh"
#include "force.cuh"

FORCE_KERNELS(DoubleSingle, double_single, 3, 2)
