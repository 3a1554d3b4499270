// The kernels that are the same in every precision.
#include "join.cuh"
#include "neighbours.cuh"
#include "roots.cuh"

KERNEL(join_sums, ForceArgs, JOIN_THREADS) { join_quantity(a); }
KERNEL(nearest_neighbours, ForceArgs, NEIGHBOUR_THREADS) { nearest_of_one(a); }
KERNEL(count_neighbours, ListArgs, NEIGHBOUR_THREADS) { list<false>(a); }
KERNEL(fill_neighbours, ListArgs, NEIGHBOUR_THREADS) { list<true>(a); }
KERNEL(reciprocal_roots, RootArgs, ROOT_THREADS) { reciprocal_roots_of(a); }
