// The kernels of the precision `single`.
#include "advance.cuh"
#include "force.cuh"

FORCE_KERNELS(Single, single, 4)
