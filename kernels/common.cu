// The kernels that are the same in every precision.
#include "join.cuh"
#include "neighbours.cuh"

KERNEL(join_sums, JoinArgs, JOIN_THREADS) { join(a); }
KERNEL(nearest_neighbours, NearestArgs, NEIGHBOUR_THREADS) { nearest(a); }
KERNEL(count_neighbours, ListArgs, NEIGHBOUR_THREADS) { list<false>(a); }
KERNEL(fill_neighbours, ListArgs, NEIGHBOUR_THREADS) { list<true>(a); }
