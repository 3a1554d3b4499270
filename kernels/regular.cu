// The kernels of NBODY6's regular force and potential that are the same in every precision.
#include "regular_decide.cuh"

KERNEL(decide_neighbours, RegularArgs, DECIDE_THREADS) { decide<false>(a); }
KERNEL(add_close, RegularArgs, DECIDE_THREADS) { decide<true>(a); }
KERNEL(join_regular, RegularArgs, REGULAR_JOIN_THREADS) { join_regular_sums(a); }
KERNEL(list_regular, RegularArgs, DECIDE_THREADS) { list_neighbours(a); }
