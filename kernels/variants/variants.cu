// Other ways through the pairs of `mixed` with jerk, to be measured beside the kernels that are shipped
// (benches/variants.py). The library loads none of them.
//
// A name says how many i-particles a thread has, how many j-particles are unrolled, whether the rows of a thread block share
// the leaves of a page, whether the roots come before the sums, and for how many thread blocks a multiprocessor has
// registers.
#include "../force.cuh"

// Each has a type of its own, and with it shared memory of its own.
#define VARIANT(name, blocks, R, UNROLL, ROWS, AHEAD)         \
    struct Way_##name : Way<UNROLL, ROWS, AHEAD> {};          \
    CROWDED_KERNEL(name, ForceArgs, FORCE_THREADS, blocks)    \
    { force<Mixed, true, false, R, Way_##name>(a, a.particles, Nothing()); }

VARIANT(variant_1_unrolled_2, 4, 1, 2, true, false)
VARIANT(variant_1_unrolled_4, 4, 1, 4, true, false)
VARIANT(variant_1_unrolled_8, 4, 1, 8, true, false)
VARIANT(variant_1_unrolled_4_ahead, 4, 1, 4, true, true)
VARIANT(variant_1_unrolled_4_blocks_5, 5, 1, 4, true, false)
VARIANT(variant_2_unrolled_2, 4, 2, 2, false, false)
VARIANT(variant_2_unrolled_4, 4, 2, 4, false, false)
VARIANT(variant_2_unrolled_8, 4, 2, 8, false, false)
VARIANT(variant_2_unrolled_2_ahead, 4, 2, 2, false, true)
VARIANT(variant_2_unrolled_4_rows, 4, 2, 4, true, false)
VARIANT(variant_3_unrolled_2, 3, 3, 2, false, false)
VARIANT(variant_3_unrolled_4, 3, 3, 4, false, false)
VARIANT(variant_4_unrolled_2, 2, 4, 2, false, false)
VARIANT(variant_4_unrolled_4, 2, 4, 4, false, false)
VARIANT(variant_4_unrolled_8, 2, 4, 8, false, false)
VARIANT(variant_4_unrolled_2_ahead, 2, 4, 2, false, true)
VARIANT(variant_4_unrolled_4_rows, 2, 4, 4, true, false)
VARIANT(variant_4_unrolled_2_blocks_3, 3, 4, 2, false, false)
VARIANT(variant_4_unrolled_4_blocks_3, 3, 4, 4, false, false)
