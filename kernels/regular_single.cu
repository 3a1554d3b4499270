// NBODY6's regular force and potential in the precision `single`.
#include "regular.cuh"

REGULAR_KERNELS(Single, single, 4, 2)
