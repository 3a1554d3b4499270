// The predictor: that of src/grape/predictor.rs, operation by operation.
#pragma once

#include "layout.cuh"

struct Predicted {
    double x;
    double v;
};

// `column` points at the position of one coordinate of one particle.
__device__ __forceinline__ Predicted predict(const double* column, double s, bool has_snap)
{
    const int each = (COLUMN_V - COLUMN_X) * PAGE;
    const double x = column[0];
    const double v = column[each];
    const double aby2 = column[2 * each];
    const double a1by6 = column[3 * each];

    double p = a1by6;
    double q = a1by6;
    if (has_snap) {
        const double a2by18 = column[4 * each];
        p = __dadd_rn(p, __dmul_rn(__dmul_rn(0.75, s), a2by18));
        q = __dadd_rn(q, __dmul_rn(s, a2by18));
    }
    p = __dadd_rn(aby2, __dmul_rn(s, p));
    p = __dadd_rn(v, __dmul_rn(s, p));
    p = __dadd_rn(x, __dmul_rn(s, p));
    q = __dadd_rn(aby2, __dmul_rn(__dmul_rn(1.5, s), q));
    q = __dadd_rn(v, __dmul_rn(__dmul_rn(2.0, s), q));

    Predicted moved;
    moved.x = s == 0.0 ? x : p;
    moved.v = s == 0.0 ? v : q;
    return moved;
}
