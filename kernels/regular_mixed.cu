// NBODY6's regular force and potential in the precision `mixed`.
#include "regular.cuh"

REGULAR_KERNELS(Mixed, mixed, 4, 2)
