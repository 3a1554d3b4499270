// The structures that host and device share. src/core/gpu/layout.rs is their twin: a change
// here is a change there (the sizes are asserted on both sides).
#pragma once

#include "kirin.cuh"

// j-particles of one leaf of the summation tree: one thread sums them, in address order.
#define LEAF 64
// j-particles of one page, the unit of storage; an aligned subtree of LEAVES leaves.
#define PAGE 512
#define LEAVES (PAGE / LEAF)
// Quantities that are summed: acceleration, potential, jerk.
#define SUMS 7
// Those of them that can differ from zero where nothing moves.
#define STILL_SUMS 4
// 64-bit words of one j-particle record: 17 numbers, then slot and label.
#define RECORD 18
// The same for a particle of a page at rest: mass, position, then slot and label.
#define SHORT_RECORD 5

// Columns of a page in device memory, PAGE words each, in the order of a record.
#define COLUMN_MASS 0
#define COLUMN_TIME 1
#define COLUMN_X 2
#define COLUMN_V 5
#define COLUMN_ABY2 8
#define COLUMN_A1BY6 11
#define COLUMN_A2BY18 14
#define COLUMN_LABEL 17

// Most i-particles, and most changed j-particles, that the kernels `step` take in their arguments.
#define FEW 16

// Bits of PageInfo::flags.
#define PAGE_HAS_SNAP 1u // some a2by18 is not zero
#define PAGE_HAS_BOTH_SIGNS 2u // some masses are positive, and some negative

// One page, by its place in device memory.
struct PageInfo {
    double mass_unit; // masses are divided by this
    double mass_inverse;
    double least_mass; // smallest magnitude but 0, divided by the unit; infinite if there is none
    unsigned number; // first address / PAGE
    int least_label; // of all particles that the page ever held
    int greatest_label;
    unsigned flags;
};
static_assert(sizeof(PageInfo) == 40, "layout.rs has the same");

// Bits of PageWork::flags.
#define WORK_FRESH 1u // the place held another page, or none: forget what is there
#define WORK_SHORT 2u // its records are short, and the other columns zero

// A page to bring up to date: its records, and where to predict it.
struct PageWork {
    PageInfo info; // as it is from now on
    unsigned place; // in device memory
    unsigned begin; // first word of its records
    unsigned records;
    unsigned flags;
};
static_assert(sizeof(PageWork) == 56, "layout.rs has the same");

// One i-particle, in the client's units.
struct IRecord {
    double x[3];
    double v[3];
    double eps2;
    double h2;
    long long label;
};
static_assert(sizeof(IRecord) == 72, "layout.rs has the same");

// The j-particles of one device.
struct Sources {
    PageInfo* pages; // by place
    double* raw; // by place: 18 columns of PAGE words
    void* predicted; // by place: VECTORS x PAGE vectors of four, ready for the pair loop
    double* exact; // by place: 3 x PAGE predicted positions in double precision
    unsigned* far; // by place: how far out and how slow its particles are, as resolution.cuh has it
    double length; // powers of two that bring positions and velocities close to 1
    double velocity;
};
static_assert(sizeof(Sources) == 56, "layout.rs has the same");

// advance: stores records and predicts. One thread block a page; more of them, if the work and the
// records lie in memory of the host, fetch from there what the kernels that follow need.
struct AdvanceArgs {
    Sources j;
    const PageWork* work;
    const double* records;
    const double* predictions; // 6 x PAGE words a page from the host; null to predict here
    const uint4* from; // in memory of the host
    uint4* to;
    double ti;
    unsigned pages;
    unsigned fetch; // vectors at `from`
};
static_assert(sizeof(AdvanceArgs) == 112, "layout.rs has the same");

// How the sums of all parts are joined, in the order of the tree.
struct Joining {
    const uint2* steps; // add sum y to sum x
    const unsigned* rounds; // steps of one round are independent: where each round ends
    const unsigned* kept; // sums that remain
    double* results; // [kept][SUMS][ni]
    unsigned count; // of rounds
    unsigned keep; // of kept sums
    unsigned sums; // that the parts left
    unsigned unused;
};
static_assert(sizeof(Joining) == 48, "layout.rs has the same");

// Where the nearest neighbours go.
struct Deciding {
    double* r2; // [ni], infinite where there is none
    int* label; // [ni]
    double precision; // relative error of a coordinate
    double farthest; // distances and coordinates beyond are not told from those of absent particles
};
static_assert(sizeof(Deciding) == 32, "layout.rs has the same");

// Leaves that were summed again in double precision, since the device was opened.
struct Redone {
    unsigned long long leaves;
    unsigned long long clocks; // that the slowest threads of the thread blocks took, page by page
};
static_assert(sizeof(Redone) == 16, "layout.rs has the same");

// force: the sums of each part of the pages for each i-particle. join_sums and nearest_neighbours,
// which make the results of them, take the same.
struct ForceArgs {
    Sources j;
    const IRecord* particles;
    const unsigned* order; // places of the pages with addresses below nj, in address order
    const unsigned char* joins; // sums to join after each of them
    const unsigned* first_sum; // for each part
    double* sums; // [sum][SUMS][ni]
    double* least; // [part][ni], for the nearest neighbour: smallest r^2 of a leaf,
    double* second; // of the next leaf,
    unsigned* leaf; // and which leaf that is: position in `order` x LEAVES + leaf
    Joining joining;
    Deciding deciding;
    Redone* redone;
    double root; // mean of P::rsqrt times the root, which does not cancel in sums over r^-3
    double inverse_root;
    unsigned long long nj;
    double ti; // time of the prediction
    unsigned ni;
    unsigned pages; // entries of `order`
    unsigned parts;
    float minus_three; // what turns the square of P::rsqrt into -3 / r^2
    unsigned* done; // in memory of the host, a word for each thread block; null if another kernel follows
    unsigned number; // of the block: what each thread block writes there when its results are there
    unsigned unused;
};
static_assert(sizeof(ForceArgs) == 272, "layout.rs has the same");

// step: force for a small block, with all that the block needs in the arguments. The thread block of a page brings
// the page up to date before it sums. The kernels have 4096 bytes for their arguments.
struct StepArgs {
    ForceArgs force; // its `particles` is where nearest_neighbours finds them, and is written to
    unsigned predicts; // whether all pages are predicted, or only those with records
    unsigned records; // number of changed j-particles
    unsigned place[FEW]; // of the page of each record, in device memory
    IRecord particles[FEW];
    double record[FEW * RECORD];
};
static_assert(sizeof(StepArgs) == 3800, "layout.rs has the same");

// reciprocal_roots: what the pair loop's approximate root makes of some numbers.
struct RootArgs {
    const float* x;
    float* y;
    unsigned count;
    unsigned unused;
};
static_assert(sizeof(RootArgs) == 24, "layout.rs has the same");

// count_neighbours, fill_neighbours: j-particles within r^2 < h2, in address order.
struct ListArgs {
    Sources j;
    const IRecord* particles;
    const unsigned* order;
    unsigned* counts; // [ni]
    const unsigned long long* begins; // [ni], where each list begins in `labels`
    int* labels;
    unsigned long long nj;
    unsigned ni;
    unsigned pages;
    unsigned include_self;
    unsigned unused;
};
static_assert(sizeof(ListArgs) == 120, "layout.rs has the same");
