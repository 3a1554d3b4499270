// The structures of NBODY6's regular force that host and device share. src/core/gpu/cuda/device/regular/layout.rs is
// their twin: a change here is a change there (the sizes are asserted on both sides).
#pragma once

#include "layout.cuh"

// Slots whose bits are one word.
#define WORD 32
// Words of a page.
#define WORDS (PAGE / WORD)
// Columns of a page of sources: position, velocity, mass.
#define SOURCE_COLUMNS 7

// PAGE consecutive addresses of the sources.
struct RegularPage {
    double mass_unit; // masses of its tile are divided by this
    double mass_inverse;
    double fastest; // greatest component of a velocity
    unsigned is_told; // whether the loop's numbers have the range for all of it, and no mass is negative
    unsigned unused;
};
static_assert(sizeof(RegularPage) == 32, "layout.rs has the same");

// A particle on which the force is wanted.
struct RegularTarget {
    double x[3];
    double v[3];
    double speed;
    double h2; // square of the neighbour radius, or that for each unit of mass
    double dtr; // over which the neighbour test looks ahead
    double error; // of a distance from it, absolute,
    double error_of_speed; // and what comes to that for each unit of the page's greatest velocity
    double closest2; // square of the distance within which pairs need more digits; not a number: all do
};
static_assert(sizeof(RegularTarget) == 96, "layout.rs has the same");

// All of the kernels take the same.
struct RegularArgs {
    RegularPage* info; // by page
    const double* columns; // by page: SOURCE_COLUMNS x PAGE
    void* tiles; // by page: VECTORS x PAGE vectors of four
    const RegularTarget* targets;
    unsigned* words; // [ni][pages][WORDS]: a bit for each source that may be a neighbour; then for each that is
    double* sums; // [pages x rows][SUMS][ni]: over sources that cannot be neighbours, in units of the page's masses
    double* exact; // [SUMS][ni]: over those that could have been
    double* results; // [SUMS][ni]
    unsigned* counts; // [ni], of neighbours
    int* list; // neighbours of one target after the other
    double inverse_root; // mean of P::rsqrt times the root, inverse
    double doubt; // h2 times this is less than anything that is no neighbour for certain
    double absolute; // and so is the square of the error times this,
    double on_the_way; // and where nothing moves far that of the way times this
    unsigned long long sources;
    unsigned ni;
    unsigned pages;
    unsigned rows; // runs into which each page was divided
    unsigned longest; // list that is kept
    unsigned by_mass; // whether h2 is for each unit of mass
    float minus_three; // what turns the square of P::rsqrt into -3 / r^2
};
static_assert(sizeof(RegularArgs) == 144, "layout.rs has the same");
