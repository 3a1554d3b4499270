// The predictor: that of src/core/sources/predictor.rs, operation by operation.
#pragma once

#include "layout.cuh"

struct Predicted {
    double x;
    double v;
};

// Coordinate `k` of a particle, whose numbers lie `apart` words apart in `record`.
__device__ __forceinline__ Predicted predict(const double* record, int apart, int k, double s, bool has_snap)
{
    const double x = record[(COLUMN_X + k) * apart];
    const double v = record[(COLUMN_V + k) * apart];
    const double aby2 = record[(COLUMN_ABY2 + k) * apart];
    const double a1by6 = record[(COLUMN_A1BY6 + k) * apart];

    double p = a1by6;
    double q = a1by6;
    if (has_snap) {
        const double a2by18 = record[(COLUMN_A2BY18 + k) * apart];
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
