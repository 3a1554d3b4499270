// The kernels of the precision `mixed`.
#include "advance.cuh"
#include "force.cuh"

FORCE_KERNELS(Mixed, mixed, 4)
