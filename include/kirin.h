/* kirin.h: the host interface of the GRAPE-6 computer, as kirin exports it.
 *
 * Made from the library's table of calls by `cargo run -p ffi-tests --bin generate`:
 * change the table, not this file.
 *
 * Each call has up to two spellings: the C one takes scalars by value; the Fortran one
 * has a trailing underscore and takes scalars by reference. Every call returns an int, 0
 * for success and a negative number with one line on stderr for a refusal, unless its
 * text says otherwise. (The calls kirin_bulk_* and kirin_tree_* have one spelling, and a message
 * that can be asked for in place of the line.) `double (*x)[3]` is the type of an array `double x[n][3]`.
 *
 *  -1  an argument is a null pointer or outside its range: nothing was computed. No output
 *      is written, except by NBODY6's library (NaN for forces and potentials, lists of at
 *      most two stars by `gpunb_regf_`, 0 for the nearest neighbours by
 *      `irr_simd_firr_vec_`; but nothing by `gpunb_regf_` if `nbmax` or `m_flag` is
 *      impossible, nor by `gpupot_` and `gpupot_range_` if the range is) and by
 *      `g6_get_neighbour_list` (the length)
 *  -2  another call must come first, or `lasthalf` asks for more i-particles than
 *      `firsthalf` brought: nothing was done
 *  -3  the call exists only so that programs link, or the bulk interface or a tree does not
 *      support what was asked: nothing was done
 *  -4  an internal error of kirin, or a signal handler forked during the call and the
 *      call's threads stayed in the parent: there are no results
 *  -5  there is no memory for what the call needs: a particle is not stored, a block is
 *      given up; the cluster and its other particles can be used as before
 *  -6  a signal handler called while its thread was inside another call, or had left one by
 *      `siglongjmp`: nothing was done
 *  -7  a handle was never opened, is closed, is of the other kind (bulk, tree), or belongs
 *      to the process that this one was forked from: nothing was done
 *
 * A null pointer is tolerated for the cluster id (it stands for 0), for the old
 * accelerations, jerks and potentials (read only for a trace) and for h2 (no neighbour lists).
 * Input and output arrays may overlap in any way.
 *
 * Accuracy (docs/numbers.md): by default blocks with few j-particles of g6_set_j_particle
 * are computed in double precision and others in `mixed`, where an acceleration and a
 * potential err by less than 1e-6 of the sum of the magnitudes of their terms, a jerk by less
 * than 2e-6 of it (2.5e-6 where one mass outweighs the others by 10^6). That is not relative to what is left where terms cancel, as those of masses
 * of both signs do. Velocities v are rounded to single precision before they are subtracted:
 * the jerk of a pair whose relative velocity is tiny beside them errs by up to
 * 2^-23 |v| m / (r^2 + eps^2)^(3/2). `KIRIN_PRECISION=double` rounds nothing.
 *
 * Programs that define the C names themselves, or link the static library made with the
 * feature fortran-names-only, define KIRIN_FORTRAN_NAMES_ONLY before they include this.
 */
#ifndef KIRIN_H
#define KIRIN_H

/* The precisions of kirin_set_precision and kirin_precision_for. */
#define KIRIN_AUTO 0
#define KIRIN_MIXED 1
#define KIRIN_DOUBLE 2
#define KIRIN_SINGLE 3
#define KIRIN_ADAPTIVE 4
#define KIRIN_DOUBLE_SINGLE 5
#define KIRIN_REDUCED 6

/* The arrays of the bulk interface (docs/bulk.md). A structure whose bytes are all zero has only absent arrays, and
 * an array with the steps 0 is packed. Other steps are numbers of bytes, also negative ones. */
#include <stdint.h>

/* A number of each particle: that of particle k lies k * step bytes after `at`; step 0 stands for 8. */
typedef struct { const double *at; int64_t step; } kirin_numbers;
typedef struct { double *at; int64_t step; } kirin_out_numbers;

/* Three numbers of each particle: coordinate c of particle k lies k * step + c * next bytes after `at`;
 * step 0 stands for 24, next 0 for 8. */
typedef struct { const double *at; int64_t step, next; } kirin_vectors;
typedef struct { double *at; int64_t step, next; } kirin_out_vectors;

/* The index of a source for each particle; step 0 stands for 8. */
typedef struct { const int64_t *at; int64_t step; } kirin_indices;
typedef struct { int64_t *at; int64_t step; } kirin_out_indices;

/* acc, jerk and snap: first, second and third derivative of the velocity, not divided by anything. */
typedef struct {
  kirin_numbers mass;
  kirin_vectors x, v, acc, jerk, snap;
  kirin_numbers time, eps2;
  const void *reserved[4];
} kirin_sources;

typedef struct {
  kirin_vectors x, v;
  kirin_numbers eps2, radius2;
  kirin_indices source;
  const void *reserved[4];
} kirin_targets;

typedef struct {
  kirin_out_vectors acc, jerk;
  kirin_out_numbers pot;
  kirin_out_indices nearest;
  kirin_out_numbers distance2;
  const void *reserved[4];
} kirin_results;

#ifdef __cplusplus
extern "C" {
#endif

#ifndef KIRIN_FORTRAN_NAMES_ONLY
/* The GRAPE-6 interface */

/**
 * Opens cluster `cluster_id`. If it is open already, nothing changes and its j-particles are kept.
 *
 * Any integer is a valid id; it is a name and not a device number. If exactly one cluster is open,
 * an id that was never opened stands for that one. Any other id that is not open, also one that
 * was closed, is a cluster of its own from its first use on, with no j-particles at first; if a
 * block has none, a line on stderr says so. On GRAPE-6 the id was the number of a board.
 */
int g6_open(int cluster_id);

/**
 * Closes cluster `cluster_id` and frees its j-particles. If it is not open, nothing happens.
 */
int g6_close(int cluster_id);

/**
 * Returns the number of pipelines: the most i-particles that one call should bring.
 *
 * The number is constant and may be asked for before `g6_open`. It is 48 as on GRAPE-6, on which
 * codes with fixed arrays rely (NBODY4); `KIRIN_NPIPES` sets another. kirin itself accepts blocks
 * of any size.
 */
int g6_npipes(void);

/**
 * Sets the binary exponent of the fixed-point unit of time.
 *
 * The argument is an integer in some clients and a double in others; it is never looked at.
 *
 * Accepted without effect: kirin computes in floating point.
 */
int g6_set_tunit(int newtunit);

/**
 * Sets the binary exponent of the fixed-point unit of length.
 *
 * The argument is an integer in some clients and a double in others; it is never looked at.
 *
 * Accepted without effect: kirin computes in floating point.
 */
int g6_set_xunit(int newxunit);

/**
 * Sets the time `ti` to which the j-particles are predicted, from the next `g6calc_firsthalf` on.
 * Before the first call it is 0.
 */
int g6_set_ti(int cluster_id, double ti);

/**
 * Stores a j-particle at `address`, for the next `g6calc_firsthalf`.
 *
 * Addresses begin at 0, also in Fortran, and may come in any order; the last write wins. `index`
 * is the particle's label: any integer. It names neighbours, and a particle exerts no force on an
 * i-particle with its own label. `x[3]`, `v[3]`, `aby2[3]` (half the acceleration), `a1by6[3]` (a
 * sixth of the jerk) and `a2by18[3]` (an eighteenth of the second derivative of the acceleration)
 * hold at the time `tj`, in any units with G = 1; `mass` may be 0. `dtj`, the particle's step,
 * scaled the fixed-point time of GRAPE-6 and does not enter any force; where it is positive, it
 * helps to tell whether noise limits the steps (docs/numbers.md). Returns a negative code, and
 * stores nothing, if the address is negative or there is no memory for it.
 */
int g6_set_j_particle(int cluster_id,
                      int address,
                      int index,
                      double tj,
                      double dtj,
                      double mass,
                      const double *a2by18,
                      const double *a1by6,
                      const double *aby2,
                      const double *v,
                      const double *x);

/**
 * Starts the calculation of the forces of the j-particles at addresses `0..nj`, predicted to the
 * time of `g6_set_ti`, on `ni` i-particles.
 *
 * `index[ni]`, `xi[ni][3]`, `vi[ni][3]` are the labels, predicted positions and velocities of the
 * i-particles; `eps2` is the squared softening length and `h2[ni]` the squared neighbour radii.
 * `aold`, `jold`, `phiold` were scaling hints for the fixed-point sums of GRAPE-6. They do not
 * enter the forces; only a trace (`KIRIN_TRACE`) records them. The arrays are copied, so the
 * client may change them after the return. A block whose results were not fetched is dropped.
 * Where this call is refused, so are the next `g6calc_lasthalf` and the neighbour lists, with the
 * same code.
 *
 * An address at which nothing was stored exerts no force. If addresses begin at 1, a line on
 * stderr says so, once for each cluster. Numbers are not tested: a NaN or an infinite number is
 * taken as it is, and so is a negative `eps2`, with which the force of a close pair is NaN. The
 * status is 0 then, too. `KIRIN_CHECK=1` reports the first result that is not finite.
 */
int g6calc_firsthalf(int cluster_id,
                     int nj,
                     int ni,
                     const int *index,
                     double (*xi)[3],
                     double (*vi)[3],
                     double (*aold)[3],
                     double (*jold)[3],
                     const double *phiold,
                     double eps2,
                     const double *h2);

/**
 * Waits for the block of `g6calc_firsthalf` and writes `acc[ni][3]`, `jerk[ni][3]` and `pot[ni]`.
 *
 * With r = x_j - x_i, v = v_j - v_i and s = r^2 + eps^2: acc = sum m r / s^(3/2), jerk = sum m (v
 * / s^(3/2) - 3 (r.v) r / s^(5/2)), pot = -sum m / s^(1/2), over all j with another label. A pair
 * with s = 0 adds nothing. `nj`, `index`, `xi`, `vi`, `eps2` and `h2` are not looked at, because
 * those of `g6calc_firsthalf` count (`KIRIN_CHECK=1` reports the first difference of `nj`,
 * `index`, `xi` or `eps2`). If no block waits, this call does the whole calculation with its own
 * arguments. So it does where `g6calc_firsthalf` was called several times, with one `nj` and
 * neither a write nor another time in between, and the block that waits begins with other labels
 * or positions: a client may begin all parts of a block before it fetches the first. With a
 * smaller `ni` than the block's it returns the first results; a larger one is refused. A nonzero
 * return asked for a repetition on GRAPE-6; here it means that the arguments are illegal or memory
 * is lacking. Neighbour lists are available after every form of this call; Phantom-GRAPE made them
 * only in the forms whose names end in `n`.
 */
int g6calc_lasthalf(int cluster_id,
                    int nj,
                    int ni,
                    const int *index,
                    double (*xi)[3],
                    double (*vi)[3],
                    double eps2,
                    const double *h2,
                    double (*acc)[3],
                    double (*jerk)[3],
                    double *pot);

/**
 * As `g6calc_lasthalf`; also writes the label of each i-particle's nearest neighbour to
 * `nnbindex[ni]`.
 *
 * Distances are not softened and the own label does not count. Of equally near particles the one
 * with the lowest address is taken. If there is no neighbour, an entry that is -1 before the call
 * stays -1, and any other becomes 0 (`KIRIN_NO_NEIGHBOUR` changes this).
 */
int g6calc_lasthalf2(int cluster_id,
                     int nj,
                     int ni,
                     const int *index,
                     double (*xi)[3],
                     double (*vi)[3],
                     double eps2,
                     const double *h2,
                     double (*acc)[3],
                     double (*jerk)[3],
                     double *pot,
                     int *nnbindex);

/**
 * Makes the neighbour lists of the last block. Returns 0; or 1, with a line on stderr, if there is
 * no memory for them or they have more than 2^28 entries together. On GRAPE-6 a 1 meant that its
 * list memory had overflowed. After a 1 the client shrinks its radii and computes the block again.
 */
int g6_read_neighbour_list(int cluster_id);

/**
 * Copies the neighbour list of i-particle `ipipe` of the block (from 0, also in Fortran): at most
 * `maxlength` labels to `nbl[maxlength]`, and their number to `*nblen`.
 *
 * The list has the labels of all j-particles with r^2 < h^2, without softening, in ascending order
 * (see `g6_set_neighbour_list_sort_mode`). The own label is in it if there are more than 48
 * pipelines, as kira expects. Returns 0, or 1 if the list is longer than `maxlength` or the lists
 * could not be made; `*nblen` is then `maxlength`.
 */
int g6_get_neighbour_list(int cluster_id, int ipipe, int maxlength, int *nblen, int *nbl);

/**
 * Reserves a buffer for `size` j-particles on their way to the board.
 *
 * Accepted without effect: writes are always staged.
 */
int g6_initialize_jp_buffer(int cluster_id, int size);

/**
 * Sends the buffered j-particles.
 *
 * Accepted without effect: every write takes effect at the next block by itself.
 */
int g6_flush_jp_buffer(int cluster_id);

/**
 * Resets the hardware. j-particles are kept.
 *
 * Accepted without effect: there is no hardware to reset.
 */
int g6_reset(int cluster_id);

/**
 * Resets the summation chips. j-particles are kept.
 *
 * Accepted without effect: there is no hardware to reset.
 */
int g6_reset_fofpga(int cluster_id);

/**
 * Announces the number of j-particles.
 *
 * Accepted without effect: every block brings its own nj.
 */
int g6_setup_njdata(int cluster_id, int nj);

/**
 * Brings the hardware back to a defined state after an error. j-particles are kept.
 *
 * Accepted without effect: there is no hardware to bring back.
 */
int g6_reinitialize(int cluster_id);

/**
 * Sets whether the labels in neighbour lists ascend: yes for any `mode` but 0, the default being
 * 1. For all clusters.
 */
int g6_set_neighbour_list_sort_mode(int mode);

/**
 * Returns the mode that `g6_set_neighbour_list_sort_mode` set.
 */
int g6_get_neighbour_list_sort_mode(void);

/**
 * Sets whether the overflow of fixed-point sums is tested for acceleration, jerk and potential.
 *
 * Clients disagree on the number of arguments: none is looked at.
 *
 * Accepted without effect: floating-point sums do not overflow that way.
 */
int g6_set_overflow_flag_test_mode(int aflag, int jflag, int pflag);

/**
 * Prints the state of the chips, on the hardware.
 *
 * Accepted without effect: there are no chips.
 */
int g6_print_chip_status(int cluster_id);

/**
 * Stores mass and position only, at time 0 and at rest, for treecodes. The particle goes to the
 * same clusters as with `g6_set_j_particle_multisend`.
 */
int g6_set_j_particle_multisend_mxfast(int cluster_id,
                                       int nclusters,
                                       int address,
                                       int index,
                                       double mass,
                                       const double *x);

/**
 * Sends the buffered j-particles to several boards.
 *
 * Accepted without effect: every write takes effect at the next block by itself.
 */
int g6_flush_jp_buffer_and_multisend(int cluster_id, int nclusters);

/**
 * As `g6calc_lasthalf2`, and writes the softened distance of the nearest neighbour, (r^2 +
 * eps^2)^(1/2), to `rnnb[ni]`; infinite where there is none. From Phantom-GRAPE.
 */
int g6calc_lasthalf2p(int cluster_id,
                      int nj,
                      int ni,
                      const int *index,
                      double (*xi)[3],
                      double (*vi)[3],
                      double eps2,
                      const double *h2,
                      double (*acc)[3],
                      double (*jerk)[3],
                      double *pot,
                      int *nnbindex,
                      float *rnnb);

/**
 * A hook for debugging Phantom-GRAPE.
 *
 * Accepted without effect: it is for debugging another library.
 */
int g6_debugfunc(int value);

/**
 * A hook for debugging Phantom-GRAPE.
 *
 * Accepted without effect: it is for debugging another library.
 */
int g6_debugfunc_double(double value);

/**
 * Writes a file for debugging Phantom-GRAPE.
 *
 * Not supported: the library writes no files.
 */
int g6_dump(double t, int n, const double *mass, double (*x)[3], double (*v)[3]);
#endif /* KIRIN_FORTRAN_NAMES_ONLY */

/* The GRAPE-6 interface: C spellings alone */

/**
 * Opens cluster 0 on the `ngpu` devices in `list`, as sapporo does.
 *
 * The numbers in `list` are the device numbers of `kirin info`. They have no effect where
 * `KIRIN_DEVICES` is set, where there are no GPUs, after an earlier call that named devices, and
 * once cluster 0 has computed. With a null `list` or with `ngpu` = 0 the call is `g6_open`.
 */
int g6_open_special(int ngpu, const int *list);

/**
 * As `g6_open_special`; `nmax`, the largest number of j-particles, is not needed.
 */
int g6_open_special2(int ngpu, const int *list, int nmax);

/* The GRAPE-6 interface: Fortran spellings */

/**
 * `g6_open` with scalars by reference.
 */
int g6_open_(const int *cluster_id);

/**
 * `g6_close` with scalars by reference.
 */
int g6_close_(const int *cluster_id);

/**
 * `g6_npipes` with scalars by reference.
 */
int g6_npipes_(void);

/**
 * `g6_set_tunit` with scalars by reference.
 */
int g6_set_tunit_(const void *newtunit);

/**
 * `g6_set_xunit` with scalars by reference.
 */
int g6_set_xunit_(const void *newxunit);

/**
 * `g6_set_ti` with scalars by reference.
 */
int g6_set_ti_(const int *cluster_id, const double *ti);

/**
 * `g6_set_j_particle` with scalars by reference.
 */
int g6_set_j_particle_(const int *cluster_id,
                       const int *address,
                       const int *index,
                       const double *tj,
                       const double *dtj,
                       const double *mass,
                       const double *a2by18,
                       const double *a1by6,
                       const double *aby2,
                       const double *v,
                       const double *x);

/**
 * `g6calc_firsthalf` with scalars by reference.
 */
int g6calc_firsthalf_(const int *cluster_id,
                      const int *nj,
                      const int *ni,
                      const int *index,
                      double (*xi)[3],
                      double (*vi)[3],
                      double (*aold)[3],
                      double (*jold)[3],
                      const double *phiold,
                      const double *eps2,
                      const double *h2);

/**
 * `g6calc_lasthalf` with scalars by reference.
 */
int g6calc_lasthalf_(const int *cluster_id,
                     const int *nj,
                     const int *ni,
                     const int *index,
                     double (*xi)[3],
                     double (*vi)[3],
                     const double *eps2,
                     const double *h2,
                     double (*acc)[3],
                     double (*jerk)[3],
                     double *pot);

/**
 * `g6calc_lasthalf2` with scalars by reference.
 */
int g6calc_lasthalf2_(const int *cluster_id,
                      const int *nj,
                      const int *ni,
                      const int *index,
                      double (*xi)[3],
                      double (*vi)[3],
                      const double *eps2,
                      const double *h2,
                      double (*acc)[3],
                      double (*jerk)[3],
                      double *pot,
                      int *nnbindex);

/**
 * `g6_read_neighbour_list` with scalars by reference.
 */
int g6_read_neighbour_list_(const int *cluster_id);

/**
 * `g6_get_neighbour_list` with scalars by reference.
 */
int g6_get_neighbour_list_(const int *cluster_id,
                           const int *ipipe,
                           const int *maxlength,
                           int *nblen,
                           int *nbl);

/**
 * `g6_initialize_jp_buffer` with scalars by reference.
 */
int g6_initialize_jp_buffer_(const int *cluster_id, const int *size);

/**
 * `g6_flush_jp_buffer` with scalars by reference.
 */
int g6_flush_jp_buffer_(const int *cluster_id);

/**
 * `g6_reset` with scalars by reference.
 */
int g6_reset_(const int *cluster_id);

/**
 * `g6_reset_fofpga` with scalars by reference.
 */
int g6_reset_fofpga_(const int *cluster_id);

/**
 * `g6_setup_njdata` with scalars by reference.
 */
int g6_setup_njdata_(const int *cluster_id, const int *nj);

/**
 * `g6_reinitialize` with scalars by reference.
 */
int g6_reinitialize_(const int *cluster_id);

/**
 * `g6_set_neighbour_list_sort_mode` with scalars by reference.
 */
int g6_set_neighbour_list_sort_mode_(const int *mode);

/**
 * `g6_get_neighbour_list_sort_mode` with scalars by reference.
 */
int g6_get_neighbour_list_sort_mode_(void);

/**
 * `g6_set_overflow_flag_test_mode` with scalars by reference.
 */
int g6_set_overflow_flag_test_mode_(const void *aflag, const void *jflag, const void *pflag);

/**
 * `g6_print_chip_status` with scalars by reference.
 */
int g6_print_chip_status_(const int *cluster_id);

/**
 * `g6_set_j_particle_multisend_mxfast` with scalars by reference.
 */
int g6_set_j_particle_multisend_mxfast_(const int *cluster_id,
                                        const int *nclusters,
                                        const int *address,
                                        const int *index,
                                        const double *mass,
                                        const double *x);

/**
 * `g6_flush_jp_buffer_and_multisend` with scalars by reference.
 */
int g6_flush_jp_buffer_and_multisend_(const int *cluster_id, const int *nclusters);

/**
 * `g6calc_lasthalf2p` with scalars by reference.
 */
int g6calc_lasthalf2p_(const int *cluster_id,
                       const int *nj,
                       const int *ni,
                       const int *index,
                       double (*xi)[3],
                       double (*vi)[3],
                       const double *eps2,
                       const double *h2,
                       double (*acc)[3],
                       double (*jerk)[3],
                       double *pot,
                       int *nnbindex,
                       float *rnnb);

/**
 * `g6_debugfunc` with scalars by reference.
 */
int g6_debugfunc_(const int *value);

/**
 * `g6_debugfunc_double` with scalars by reference.
 */
int g6_debugfunc_double_(const double *value);

/**
 * `g6_dump` with scalars by reference.
 */
int g6_dump_(const double *t, const int *n, const double *mass, double (*x)[3], double (*v)[3]);

#ifndef KIRIN_FORTRAN_NAMES_ONLY
/* The low-level calls */

/**
 * Stores mass and position only, at time 0 and at rest: the load of treecodes.
 */
int g6_set_j_particle_mxonly(int cluster_id, int address, int index, double mass, const double *x);

/**
 * As `g6calc_firsthalf`, but `eps2` is passed by reference in C too. If `mode` is odd, `eps2` is
 * one number; if it is even, `eps2[ni]` has one for each i-particle (Fortran's module declares a
 * scalar: pass `eps2(1)` for the array). The other bits of `mode` are ignored. In the original
 * library `g6calc_firsthalf` calls this function with `mode` 1.
 */
int g6calc_firsthalf0(int cluster_id,
                      int nj,
                      int ni,
                      const int *index,
                      double (*xi)[3],
                      double (*vi)[3],
                      double (*aold)[3],
                      double (*jold)[3],
                      const double *phiold,
                      const double *eps2,
                      const double *h2,
                      int mode);

/**
 * As `g6calc_lasthalf` with `eps2` by reference in C too; see `g6calc_firsthalf0`.
 */
int g6calc_lasthalf0(int cluster_id,
                     int nj,
                     int ni,
                     const int *index,
                     double (*xi)[3],
                     double (*vi)[3],
                     const double *eps2,
                     const double *h2,
                     double (*acc)[3],
                     double (*jerk)[3],
                     double *pot,
                     int mode);

/**
 * Sets the number of i-particles for `g6_get_force`.
 */
int g6_set_nip(int cluster_id, int nip);

/**
 * Sets the number of j-particles (addresses `0..njp`) for `g6_get_force`.
 */
int g6_set_njp(int cluster_id, int njp);

/**
 * Sets the fixed-point scales of one pipeline from the expected acceleration, jerk and potential.
 *
 * Accepted without effect: floating-point sums need no scale.
 */
int g6_set_i_particle_scales_from_real_value(int cluster_id,
                                             int address,
                                             const double *acc,
                                             const double *jerk,
                                             double phi,
                                             double jfactor,
                                             double ffactor);

/**
 * Loads i-particle register `address` (from 0) with label, position, velocity, squared softening
 * length and squared neighbour radius.
 */
int g6_set_i_particle(int cluster_id,
                      int address,
                      int index,
                      const double *x,
                      const double *v,
                      double eps2,
                      double h2);

/**
 * Computes the forces on the i-particle registers `0..nip` and writes `acc[nip][3]`,
 * `jerk[nip][3]`, `phi[nip]`, and zeros to `flag[nip]`. `nip` is what `g6_set_nip` announced, not
 * more than there are loaded registers.
 */
int g6_get_force(int cluster_id, double (*acc)[3], double (*jerk)[3], double *phi, int *flag);

/**
 * As `g6_get_force`, and writes the labels of the nearest neighbours to `nnbindex[nip]`.
 */
int g6_get_force_etc(int cluster_id,
                     double (*acc)[3],
                     double (*jerk)[3],
                     double *phi,
                     int *nnbindex,
                     int *flag);

/**
 * Writes the predicted positions and velocities of the j-particles at addresses `0..nj`; zeros
 * where there is none.
 */
int g6_get_predicted_j_particles(int cluster_id, int nj, double (*x)[3], double (*v)[3]);

/**
 * Returns 1048576, a number of j-particles for which there is always room. Memory permitting,
 * there is room at any address.
 */
int g6_getnjmax(int cluster_id);
#endif /* KIRIN_FORTRAN_NAMES_ONLY */

/* The low-level calls: Fortran spellings */

/**
 * `g6_set_j_particle_mxonly` with scalars by reference.
 */
int g6_set_j_particle_mxonly_(const int *cluster_id,
                              const int *address,
                              const int *index,
                              const double *mass,
                              const double *x);

/**
 * `g6calc_firsthalf0` with scalars by reference.
 */
int g6calc_firsthalf0_(const int *cluster_id,
                       const int *nj,
                       const int *ni,
                       const int *index,
                       double (*xi)[3],
                       double (*vi)[3],
                       double (*aold)[3],
                       double (*jold)[3],
                       const double *phiold,
                       const double *eps2,
                       const double *h2,
                       const int *mode);

/**
 * `g6calc_lasthalf0` with scalars by reference.
 */
int g6calc_lasthalf0_(const int *cluster_id,
                      const int *nj,
                      const int *ni,
                      const int *index,
                      double (*xi)[3],
                      double (*vi)[3],
                      const double *eps2,
                      const double *h2,
                      double (*acc)[3],
                      double (*jerk)[3],
                      double *pot,
                      const int *mode);

/**
 * `g6_set_nip` with scalars by reference.
 */
int g6_set_nip_(const int *cluster_id, const int *nip);

/**
 * `g6_set_njp` with scalars by reference.
 */
int g6_set_njp_(const int *cluster_id, const int *njp);

/**
 * `g6_set_i_particle_scales_from_real_value` with scalars by reference.
 */
int g6_set_i_particle_scales_from_real_value_(const int *cluster_id,
                                              const int *address,
                                              const double *acc,
                                              const double *jerk,
                                              const double *phi,
                                              const double *jfactor,
                                              const double *ffactor);

/**
 * `g6_set_i_particle` with scalars by reference.
 */
int g6_set_i_particle_(const int *cluster_id,
                       const int *address,
                       const int *index,
                       const double *x,
                       const double *v,
                       const double *eps2,
                       const double *h2);

/**
 * `g6_get_force` with scalars by reference.
 */
int g6_get_force_(const int *cluster_id,
                  double (*acc)[3],
                  double (*jerk)[3],
                  double *phi,
                  int *flag);

/**
 * `g6_get_force_etc` with scalars by reference.
 */
int g6_get_force_etc_(const int *cluster_id,
                      double (*acc)[3],
                      double (*jerk)[3],
                      double *phi,
                      int *nnbindex,
                      int *flag);

/**
 * `g6_get_predicted_j_particles` with scalars by reference.
 */
int g6_get_predicted_j_particles_(const int *cluster_id,
                                  const int *nj,
                                  double (*x)[3],
                                  double (*v)[3]);

/**
 * `g6_getnjmax` with scalars by reference.
 */
int g6_getnjmax_(const int *cluster_id);

#ifndef KIRIN_FORTRAN_NAMES_ONLY
/* More of the original library's names */

/**
 * Returns the last i-particle whose fixed-point scale was changed during `g6calc_lasthalf`, or -1
 * for none, which is always the answer here.
 *
 * NBODY4 passes an argument, which the original does not read either.
 */
int g6_changed_index(int cluster_id);

/**
 * As `g6_set_j_particle`, to the clusters `cluster_id` to `cluster_id + nclusters - 1`, as far as
 * they are open, and to `cluster_id` in any case.
 */
int g6_set_j_particle_multisend(int cluster_id,
                                int nclusters,
                                int address,
                                int index,
                                double tj,
                                double dtj,
                                double mass,
                                const double *a2by18,
                                const double *a1by6,
                                const double *aby2,
                                const double *v,
                                const double *x);

/**
 * Sets the scales that i-particle `address` has in later blocks.
 *
 * In the original, `phi` is the last argument of the C spelling, and a pointer in C, too. kirin
 * looks at no argument.
 *
 * Accepted without effect: floating-point sums need no scale.
 */
int g6_preset_i_particle_scales_from_real_value(int cluster_id,
                                                int address,
                                                const double *acc,
                                                const double *jerk,
                                                const double *phi,
                                                int jfactor,
                                                int ffactor);

/**
 * Sets whether a simulator takes the place of the hardware.
 *
 * Accepted without effect: there is neither.
 */
int g6_set_simulator_use(int mode);

/**
 * Sets how i- and j-particles share the way to the boards.
 *
 * Accepted without effect: there is no bus to share.
 */
int g6_set_ijp_mode(int cluster_id, int mode);

/**
 * Sets the memory mode of the control boards.
 *
 * Accepted without effect: there are no boards.
 */
int g6_change_cbjpmode(int cluster_id, int mode);

/**
 * Sets the number that `g6_mccount_` returns; the hardware was opened with it.
 */
int g6_setmccount(int mccount);
#endif /* KIRIN_FORTRAN_NAMES_ONLY */

/* More of the original library's names: C spellings alone */

/**
 * Switches the clock of the boards.
 *
 * Accepted without effect: there is no clock to switch.
 */
int g6_change_clock(int cluster_id, int on);

/* More of the original library's names: Fortran spellings */

/**
 * `g6_changed_index` with scalars by reference.
 */
int g6_changed_index_(const void *cluster_id);

/**
 * `g6_set_j_particle_multisend` with scalars by reference.
 */
int g6_set_j_particle_multisend_(const int *cluster_id,
                                 const int *nclusters,
                                 const int *address,
                                 const int *index,
                                 const double *tj,
                                 const double *dtj,
                                 const double *mass,
                                 const double *a2by18,
                                 const double *a1by6,
                                 const double *aby2,
                                 const double *v,
                                 const double *x);

/**
 * Loads the i-particle registers `address` to `address + nip - 1`: as `g6_set_i_particle` with
 * arrays, each particle with its own softening.
 */
int g6_set_i_particle_vector_(const int *cluster_id,
                              const int *address,
                              const int *nip,
                              const int *index,
                              double (*x)[3],
                              double (*v)[3],
                              const double *eps2,
                              const double *h2);

/**
 * As `g6calc_lasthalf0`, and writes the labels of the nearest neighbours to `nnbindex[ni]`.
 */
int g6calc_lasthalf0a_(const int *cluster_id,
                       const int *nj,
                       const int *ni,
                       const int *index,
                       double (*xi)[3],
                       double (*vi)[3],
                       const double *eps2,
                       const double *h2,
                       double (*acc)[3],
                       double (*jerk)[3],
                       double *pot,
                       int *nnbindex,
                       const int *mode);

/**
 * Returns which overflow a flag of `g6_get_force` tells of, 0 for none.
 *
 * Accepted without effect: the flags of kirin's forces are zero.
 */
int g6_test_flag_(const void *cluster_id, const void *flag);

/**
 * The same as `g6_set_i_particle_scales_from_real_value`.
 *
 * Accepted without effect: floating-point sums need no scale.
 */
int g6_set_ip_scales_(const int *cluster_id,
                      const int *address,
                      const double *acc,
                      const double *jerk,
                      const double *phi,
                      const double *jfactor,
                      const double *ffactor);

/**
 * Changes the scales of i-particle `address` after the overflow that `flag` tells of.
 *
 * Accepted without effect: floating-point sums need no scale.
 */
int g6_adjust_ip_scales_(const int *cluster_id, const int *address, const int *flag);

/**
 * Sets the scales of i-particle `address` to the entries of that number in three arrays.
 *
 * Accepted without effect: floating-point sums need no scale.
 */
int g6_copy_i_particle_scales_(const int *cluster_id,
                               const int *address,
                               const int *ascale,
                               const int *jscale,
                               const int *pscale);

/**
 * Computes the scales of i-particle `address`, and writes them to the entries with this number in
 * three arrays. kirin leaves the arrays as they are.
 *
 * Accepted without effect: floating-point sums need no scale.
 */
int g6_calc_i_particle_scales_from_real_value_(const int *cluster_id,
                                               const int *address,
                                               const double *acc,
                                               const double *jerk,
                                               const double *phi,
                                               const double *jfactor,
                                               const double *ffactor,
                                               int *ascale,
                                               int *jscale,
                                               int *pscale);

/**
 * `g6_preset_i_particle_scales_from_real_value` with scalars by reference.
 */
int g6_preset_i_particle_scales_from_real_value_(const int *cluster_id,
                                                 const int *address,
                                                 const double *acc,
                                                 const double *jerk,
                                                 const double *phi,
                                                 const void *jfactor,
                                                 const void *ffactor);

/**
 * `g6_set_simulator_use` with scalars by reference.
 */
int g6_set_simulator_use_(const void *mode);

/**
 * `g6_set_ijp_mode` with scalars by reference.
 */
int g6_set_ijp_mode_(const int *cluster_id, const int *mode);

/**
 * `g6_change_cbjpmode` with scalars by reference.
 */
int g6_change_cbjpmode_(const int *cluster_id, const int *mode);

/**
 * Sets the memory mode of one control board.
 *
 * Accepted without effect: there are no boards.
 */
int g6_setcbjpmode_(const int *cluster_id, const int *board, const int *mode, const int *network);

/**
 * Sets whether errors on the way back from the boards are looked for.
 *
 * Accepted without effect: there is no hardware that could err.
 */
int g6_setfoerrchkmode_(const int *cluster_id, const int *mode);

/**
 * `g6_setmccount` with scalars by reference.
 */
int g6_setmccount_(const int *mccount);

/**
 * Returns the number that `g6_setmccount` set, 1 before.
 */
int g6_mccount_(void);

#ifndef KIRIN_FORTRAN_NAMES_ONLY
/* Calls for all boards at once */

/**
 * `g6_open` for all boards at once, that is for cluster 0.
 */
int g6_open_all(void);

/**
 * `g6_close` for all boards at once, that is for cluster 0.
 */
int g6_close_all(void);

/**
 * `g6_set_ti` for all boards at once, that is for cluster 0.
 */
int g6_set_ti_all(double ti);

/**
 * `g6_set_j_particle` for all boards at once, that is for cluster 0.
 */
int g6_set_j_particle_all(int address,
                          int index,
                          double tj,
                          double dtj,
                          double mass,
                          const double *a2by18,
                          const double *a1by6,
                          const double *aby2,
                          const double *v,
                          const double *x);

/**
 * `g6calc_firsthalf` for all boards at once, that is for cluster 0.
 */
int g6calc_firsthalf_all(int nj,
                         int ni,
                         const int *index,
                         double (*xi)[3],
                         double (*vi)[3],
                         double (*aold)[3],
                         double (*jold)[3],
                         const double *phiold,
                         double eps2,
                         const double *h2);

/**
 * `g6calc_lasthalf` for all boards at once, that is for cluster 0.
 */
int g6calc_lasthalf_all(int nj,
                        int ni,
                        const int *index,
                        double (*xi)[3],
                        double (*vi)[3],
                        double eps2,
                        const double *h2,
                        double (*acc)[3],
                        double (*jerk)[3],
                        double *pot);

/**
 * `g6calc_lasthalf2` for all boards at once, that is for cluster 0.
 */
int g6calc_lasthalf2_all(int nj,
                         int ni,
                         const int *index,
                         double (*xi)[3],
                         double (*vi)[3],
                         double eps2,
                         const double *h2,
                         double (*acc)[3],
                         double (*jerk)[3],
                         double *pot,
                         int *nnbindex);

/**
 * `g6_read_neighbour_list` for all boards at once, that is for cluster 0.
 */
int g6_read_neighbour_list_all(void);

/**
 * `g6_get_neighbour_list` for all boards at once, that is for cluster 0.
 */
int g6_get_neighbour_list_all(int ipipe, int maxlength, int *nblen, int *nbl);

/**
 * `g6_set_j_particle_mxonly` for all boards at once, that is for cluster 0.
 */
int g6_set_j_particle_mxonly_all(int address, int index, double mass, const double *x);

/**
 * `g6calc_firsthalf0` for all boards at once, that is for cluster 0.
 */
int g6calc_firsthalf0_all(int nj,
                          int ni,
                          const int *index,
                          double (*xi)[3],
                          double (*vi)[3],
                          double (*aold)[3],
                          double (*jold)[3],
                          const double *phiold,
                          const double *eps2,
                          const double *h2,
                          int mode);

/**
 * `g6calc_lasthalf0` for all boards at once, that is for cluster 0.
 */
int g6calc_lasthalf0_all(int nj,
                         int ni,
                         const int *index,
                         double (*xi)[3],
                         double (*vi)[3],
                         const double *eps2,
                         const double *h2,
                         double (*acc)[3],
                         double (*jerk)[3],
                         double *pot,
                         int mode);

/**
 * `g6_set_nip` for all boards at once, that is for cluster 0.
 */
int g6_set_nip_all(int nip);

/**
 * `g6_set_njp` for all boards at once, that is for cluster 0.
 */
int g6_set_njp_all(int njp);

/**
 * `g6_set_i_particle_scales_from_real_value` for all boards at once, that is for cluster 0.
 *
 * Accepted without effect: floating-point sums need no scale.
 */
int g6_set_i_particle_scales_from_real_value_all(int address,
                                                 const double *acc,
                                                 const double *jerk,
                                                 double phi,
                                                 double jfactor,
                                                 double ffactor);

/**
 * `g6_set_i_particle` for all boards at once, that is for cluster 0.
 */
int g6_set_i_particle_all(int address,
                          int index,
                          const double *x,
                          const double *v,
                          double eps2,
                          double h2);

/**
 * `g6_get_force` for all boards at once, that is for cluster 0.
 */
int g6_get_force_all(double (*acc)[3], double (*jerk)[3], double *phi, int *flag);

/**
 * `g6_get_force_etc` for all boards at once, that is for cluster 0.
 */
int g6_get_force_etc_all(double (*acc)[3],
                         double (*jerk)[3],
                         double *phi,
                         int *nnbindex,
                         int *flag);

/**
 * `g6_get_predicted_j_particles` for all boards at once, that is for cluster 0.
 */
int g6_get_predicted_j_particles_all(int nj, double (*x)[3], double (*v)[3]);

/**
 * `g6_getnjmax` for all boards at once, that is for cluster 0.
 */
int g6_getnjmax_all(void);
#endif /* KIRIN_FORTRAN_NAMES_ONLY */

/* Calls for all boards at once: Fortran spellings */

/**
 * `g6_open_all` with scalars by reference.
 */
int g6_open_all_(void);

/**
 * `g6_close_all` with scalars by reference.
 */
int g6_close_all_(void);

/**
 * `g6_set_ti_all` with scalars by reference.
 */
int g6_set_ti_all_(const double *ti);

/**
 * `g6_set_j_particle_all` with scalars by reference.
 */
int g6_set_j_particle_all_(const int *address,
                           const int *index,
                           const double *tj,
                           const double *dtj,
                           const double *mass,
                           const double *a2by18,
                           const double *a1by6,
                           const double *aby2,
                           const double *v,
                           const double *x);

/**
 * `g6calc_firsthalf_all` with scalars by reference.
 */
int g6calc_firsthalf_all_(const int *nj,
                          const int *ni,
                          const int *index,
                          double (*xi)[3],
                          double (*vi)[3],
                          double (*aold)[3],
                          double (*jold)[3],
                          const double *phiold,
                          const double *eps2,
                          const double *h2);

/**
 * `g6calc_lasthalf_all` with scalars by reference.
 */
int g6calc_lasthalf_all_(const int *nj,
                         const int *ni,
                         const int *index,
                         double (*xi)[3],
                         double (*vi)[3],
                         const double *eps2,
                         const double *h2,
                         double (*acc)[3],
                         double (*jerk)[3],
                         double *pot);

/**
 * `g6calc_lasthalf2_all` with scalars by reference.
 */
int g6calc_lasthalf2_all_(const int *nj,
                          const int *ni,
                          const int *index,
                          double (*xi)[3],
                          double (*vi)[3],
                          const double *eps2,
                          const double *h2,
                          double (*acc)[3],
                          double (*jerk)[3],
                          double *pot,
                          int *nnbindex);

/**
 * `g6_read_neighbour_list_all` with scalars by reference.
 */
int g6_read_neighbour_list_all_(void);

/**
 * `g6_get_neighbour_list_all` with scalars by reference.
 */
int g6_get_neighbour_list_all_(const int *ipipe, const int *maxlength, int *nblen, int *nbl);

/**
 * `g6_set_j_particle_mxonly_all` with scalars by reference.
 */
int g6_set_j_particle_mxonly_all_(const int *address,
                                  const int *index,
                                  const double *mass,
                                  const double *x);

/**
 * `g6calc_firsthalf0_all` with scalars by reference.
 */
int g6calc_firsthalf0_all_(const int *nj,
                           const int *ni,
                           const int *index,
                           double (*xi)[3],
                           double (*vi)[3],
                           double (*aold)[3],
                           double (*jold)[3],
                           const double *phiold,
                           const double *eps2,
                           const double *h2,
                           const int *mode);

/**
 * `g6calc_lasthalf0_all` with scalars by reference.
 */
int g6calc_lasthalf0_all_(const int *nj,
                          const int *ni,
                          const int *index,
                          double (*xi)[3],
                          double (*vi)[3],
                          const double *eps2,
                          const double *h2,
                          double (*acc)[3],
                          double (*jerk)[3],
                          double *pot,
                          const int *mode);

/**
 * `g6_set_nip_all` with scalars by reference.
 */
int g6_set_nip_all_(const int *nip);

/**
 * `g6_set_njp_all` with scalars by reference.
 */
int g6_set_njp_all_(const int *njp);

/**
 * `g6_set_i_particle_scales_from_real_value_all` with scalars by reference.
 */
int g6_set_i_particle_scales_from_real_value_all_(const int *address,
                                                  const double *acc,
                                                  const double *jerk,
                                                  const double *phi,
                                                  const double *jfactor,
                                                  const double *ffactor);

/**
 * `g6_set_i_particle_all` with scalars by reference.
 */
int g6_set_i_particle_all_(const int *address,
                           const int *index,
                           const double *x,
                           const double *v,
                           const double *eps2,
                           const double *h2);

/**
 * `g6_get_force_all` with scalars by reference.
 */
int g6_get_force_all_(double (*acc)[3], double (*jerk)[3], double *phi, int *flag);

/**
 * `g6_get_force_etc_all` with scalars by reference.
 */
int g6_get_force_etc_all_(double (*acc)[3],
                          double (*jerk)[3],
                          double *phi,
                          int *nnbindex,
                          int *flag);

/**
 * `g6_get_predicted_j_particles_all` with scalars by reference.
 */
int g6_get_predicted_j_particles_all_(const int *nj, double (*x)[3], double (*v)[3]);

/**
 * `g6_getnjmax_all` with scalars by reference.
 */
int g6_getnjmax_all_(void);

#ifndef KIRIN_FORTRAN_NAMES_ONLY
/* Other names of these calls: those of the 2007 kirin, and of other libraries */

/**
 * The same as `g6_open`.
 */
int GPU_g6_open(int cluster_id);

/**
 * The same as `g6_close`.
 */
int GPU_g6_close(int cluster_id);

/**
 * The same as `g6_npipes`.
 */
int g6_get_number_of_pipelines(void);

/**
 * The same as `g6_npipes`.
 */
int GPU_g6_npipes(void);

/**
 * The same as `g6_set_tunit`.
 *
 * Accepted without effect: kirin computes in floating point.
 */
int GPU_g6_set_tunit(int newtunit);

/**
 * The same as `g6_set_xunit`.
 *
 * Accepted without effect: kirin computes in floating point.
 */
int GPU_g6_set_xunit(int newxunit);

/**
 * The same as `g6_set_ti`.
 */
int GPU_g6_set_ti(int cluster_id, double ti);

/**
 * The same as `g6_set_j_particle`.
 */
int GPU_g6_set_j_particle(int cluster_id,
                          int address,
                          int index,
                          double tj,
                          double dtj,
                          double mass,
                          const double *a2by18,
                          const double *a1by6,
                          const double *aby2,
                          const double *v,
                          const double *x);

/**
 * The same as `g6calc_firsthalf`.
 */
int GPU_g6calc_firsthalf(int cluster_id,
                         int nj,
                         int ni,
                         const int *index,
                         double (*xi)[3],
                         double (*vi)[3],
                         double (*aold)[3],
                         double (*jold)[3],
                         const double *phiold,
                         double eps2,
                         const double *h2);

/**
 * The same as `g6calc_lasthalf`.
 */
int g6calc_lasthalfn(int cluster_id,
                     int nj,
                     int ni,
                     const int *index,
                     double (*xi)[3],
                     double (*vi)[3],
                     double eps2,
                     const double *h2,
                     double (*acc)[3],
                     double (*jerk)[3],
                     double *pot);

/**
 * The same as `g6calc_lasthalf`.
 */
int GPU_g6calc_lasthalf(int cluster_id,
                        int nj,
                        int ni,
                        const int *index,
                        double (*xi)[3],
                        double (*vi)[3],
                        double eps2,
                        const double *h2,
                        double (*acc)[3],
                        double (*jerk)[3],
                        double *pot);

/**
 * The same as `g6calc_lasthalf2`.
 */
int g6calc_lasthalf2n(int cluster_id,
                      int nj,
                      int ni,
                      const int *index,
                      double (*xi)[3],
                      double (*vi)[3],
                      double eps2,
                      const double *h2,
                      double (*acc)[3],
                      double (*jerk)[3],
                      double *pot,
                      int *nnbindex);

/**
 * The same as `g6_read_neighbour_list`.
 */
int g6_read_neighbour_list_old(int cluster_id);

/**
 * The same as `g6_initialize_jp_buffer`.
 *
 * Accepted without effect: writes are always staged.
 */
int GPU_g6_initialize_jp_buffer(int cluster_id, int size);

/**
 * The same as `g6_flush_jp_buffer`.
 *
 * Accepted without effect: every write takes effect at the next block by itself.
 */
int GPU_g6_flush_jp_buffer(int cluster_id);

/**
 * The same as `g6_reset`.
 *
 * Accepted without effect: there is no hardware to reset.
 */
int GPU_g6_reset(int cluster_id);

/**
 * The same as `g6_reset_fofpga`.
 *
 * Accepted without effect: there is no hardware to reset.
 */
int GPU_g6_reset_fofpga(int cluster_id);

/**
 * The same as `g6calc_lasthalf2p`.
 */
int g6calc_lasthalf2np(int cluster_id,
                       int nj,
                       int ni,
                       const int *index,
                       double (*xi)[3],
                       double (*vi)[3],
                       double eps2,
                       const double *h2,
                       double (*acc)[3],
                       double (*jerk)[3],
                       double *pot,
                       int *nnbindex,
                       float *rnnb);
#endif /* KIRIN_FORTRAN_NAMES_ONLY */

/* Other names of these calls: those of the 2007 kirin, and of other libraries: C spellings alone */

/**
 * The same as `g6_reinitialize`.
 *
 * Accepted without effect: there is no hardware to bring back.
 */
int GPU_g6_reinitialize(int cluster_id);

/**
 * The same as `g6_set_neighbour_list_sort_mode`.
 */
int GPU_g6_set_neighbour_list_sort_mode(int mode);

/**
 * The same as `g6_set_overflow_flag_test_mode`.
 *
 * Accepted without effect: floating-point sums do not overflow that way.
 */
int GPU_g6_set_overflow_flag_test_mode(int aflag, int jflag, int pflag);

/**
 * The same as `g6_print_chip_status`.
 *
 * Accepted without effect: there are no chips.
 */
int GPU_g6_print_chip_status(int cluster_id);

/**
 * The same as `g6_flush_jp_buffer_and_multisend`.
 *
 * Accepted without effect: every write takes effect at the next block by itself.
 */
int GPU_g6_flush_jp_buffer_and_multisend(int cluster_id, int nclusters);

/* Other names of these calls: those of the 2007 kirin, and of other libraries: Fortran spellings */

/**
 * `GPU_g6_open` with scalars by reference.
 */
int GPU_g6_open_(const int *cluster_id);

/**
 * `GPU_g6_close` with scalars by reference.
 */
int GPU_g6_close_(const int *cluster_id);

/**
 * `g6_get_number_of_pipelines` with scalars by reference.
 */
int g6_get_number_of_pipelines_(void);

/**
 * `GPU_g6_npipes` with scalars by reference.
 */
int GPU_g6_npipes_(void);

/**
 * `GPU_g6_set_tunit` with scalars by reference.
 */
int GPU_g6_set_tunit_(const void *newtunit);

/**
 * `GPU_g6_set_xunit` with scalars by reference.
 */
int GPU_g6_set_xunit_(const void *newxunit);

/**
 * `GPU_g6_set_ti` with scalars by reference.
 */
int GPU_g6_set_ti_(const int *cluster_id, const double *ti);

/**
 * `GPU_g6_set_j_particle` with scalars by reference.
 */
int GPU_g6_set_j_particle_(const int *cluster_id,
                           const int *address,
                           const int *index,
                           const double *tj,
                           const double *dtj,
                           const double *mass,
                           const double *a2by18,
                           const double *a1by6,
                           const double *aby2,
                           const double *v,
                           const double *x);

/**
 * `GPU_g6calc_firsthalf` with scalars by reference.
 */
int GPU_g6calc_firsthalf_(const int *cluster_id,
                          const int *nj,
                          const int *ni,
                          const int *index,
                          double (*xi)[3],
                          double (*vi)[3],
                          double (*aold)[3],
                          double (*jold)[3],
                          const double *phiold,
                          const double *eps2,
                          const double *h2);

/**
 * The same as `g6calc_firsthalf`.
 */
int GPU2_g6calc_firsthalf_(const int *cluster_id,
                           const int *nj,
                           const int *ni,
                           const int *index,
                           double (*xi)[3],
                           double (*vi)[3],
                           double (*aold)[3],
                           double (*jold)[3],
                           const double *phiold,
                           const double *eps2,
                           const double *h2);

/**
 * `g6calc_lasthalfn` with scalars by reference.
 */
int g6calc_lasthalfn_(const int *cluster_id,
                      const int *nj,
                      const int *ni,
                      const int *index,
                      double (*xi)[3],
                      double (*vi)[3],
                      const double *eps2,
                      const double *h2,
                      double (*acc)[3],
                      double (*jerk)[3],
                      double *pot);

/**
 * `GPU_g6calc_lasthalf` with scalars by reference.
 */
int GPU_g6calc_lasthalf_(const int *cluster_id,
                         const int *nj,
                         const int *ni,
                         const int *index,
                         double (*xi)[3],
                         double (*vi)[3],
                         const double *eps2,
                         const double *h2,
                         double (*acc)[3],
                         double (*jerk)[3],
                         double *pot);

/**
 * The same as `g6calc_lasthalf`.
 */
int GPU2_g6calc_lasthalf_(const int *cluster_id,
                          const int *nj,
                          const int *ni,
                          const int *index,
                          double (*xi)[3],
                          double (*vi)[3],
                          const double *eps2,
                          const double *h2,
                          double (*acc)[3],
                          double (*jerk)[3],
                          double *pot);

/**
 * `g6calc_lasthalf2n` with scalars by reference.
 */
int g6calc_lasthalf2n_(const int *cluster_id,
                       const int *nj,
                       const int *ni,
                       const int *index,
                       double (*xi)[3],
                       double (*vi)[3],
                       const double *eps2,
                       const double *h2,
                       double (*acc)[3],
                       double (*jerk)[3],
                       double *pot,
                       int *nnbindex);

/**
 * The same as `g6calc_lasthalf2`.
 */
int GPU2_g6calc_lasthalf2_(const int *cluster_id,
                           const int *nj,
                           const int *ni,
                           const int *index,
                           double (*xi)[3],
                           double (*vi)[3],
                           const double *eps2,
                           const double *h2,
                           double (*acc)[3],
                           double (*jerk)[3],
                           double *pot,
                           int *nnbindex);

/**
 * `g6_read_neighbour_list_old` with scalars by reference.
 */
int g6_read_neighbour_list_old_(const int *cluster_id);

/**
 * The same as `g6_read_neighbour_list`.
 */
int GPU_g6_read_neighbour_list_(const int *cluster_id);

/**
 * The same as `g6_get_neighbour_list`.
 */
int GPU_g6_get_neighbour_list_(const int *cluster_id,
                               const int *ipipe,
                               const int *maxlength,
                               int *nblen,
                               int *nbl);

/**
 * `GPU_g6_initialize_jp_buffer` with scalars by reference.
 */
int GPU_g6_initialize_jp_buffer_(const int *cluster_id, const int *size);

/**
 * `GPU_g6_flush_jp_buffer` with scalars by reference.
 */
int GPU_g6_flush_jp_buffer_(const int *cluster_id);

/**
 * `GPU_g6_reset` with scalars by reference.
 */
int GPU_g6_reset_(const int *cluster_id);

/**
 * `GPU_g6_reset_fofpga` with scalars by reference.
 */
int GPU_g6_reset_fofpga_(const int *cluster_id);

/**
 * The same as `g6_set_j_particle_multisend_mxfast`.
 */
int g6_set_j_particle_multisend_mxf_(const int *cluster_id,
                                     const int *nclusters,
                                     const int *address,
                                     const int *index,
                                     const double *mass,
                                     const double *x);

/**
 * The same as `g6_set_j_particle_multisend_mxfast`.
 */
int GPU_g6_set_j_particle_multisend_mxfast_(const int *cluster_id,
                                            const int *nclusters,
                                            const int *address,
                                            const int *index,
                                            const double *mass,
                                            const double *x);

/**
 * `g6calc_lasthalf2np` with scalars by reference.
 */
int g6calc_lasthalf2np_(const int *cluster_id,
                        const int *nj,
                        const int *ni,
                        const int *index,
                        double (*xi)[3],
                        double (*vi)[3],
                        const double *eps2,
                        const double *h2,
                        double (*acc)[3],
                        double (*jerk)[3],
                        double *pot,
                        int *nnbindex,
                        float *rnnb);

/**
 * The same as `g6_set_njp`.
 */
int g6_set_njp_real_(const int *cluster_id, const int *njp);

/* kirin's own */

/**
 * Returns the version of the library, a string that lives as long as the process.
 */
const char *kirin_version(void);

/**
 * Returns what computes the forces of cluster `cluster_id`, a string that lives as long as the
 * process.
 */
const char *kirin_backend(int cluster_id);

/**
 * Returns the precision of the last block of cluster `cluster_id`: `mixed`, `double`, `single`,
 * `double-single` or `reduced`. Before the first block it may be `auto` or `adaptive`.
 */
const char *kirin_precision(int cluster_id);

/**
 * Chooses the precision of cluster `cluster_id`, from its next block on.
 *
 * `precision` is `KIRIN_AUTO`, `KIRIN_MIXED`, `KIRIN_DOUBLE`, `KIRIN_SINGLE`, `KIRIN_ADAPTIVE`,
 * `KIRIN_DOUBLE_SINGLE` or `KIRIN_REDUCED` (docs/numbers.md). In place of `KIRIN_DOUBLE_SINGLE` a
 * CPU takes `KIRIN_DOUBLE`. In place of `KIRIN_REDUCED` a GPU takes `KIRIN_SINGLE`, and so do
 * blocks with jerks. The user has the last word: where `KIRIN_PRECISION` names an arithmetic, the
 * call does not change the precision. After this call a GPU also computes the blocks with few
 * j-particles that the CPU computes by default (docs/gpus.md). A program may divide its
 * j-particles over several clusters or processes. It then passes what `kirin_precision_for`
 * returns for their total number, because `auto` would see only a part of them.
 */
int kirin_set_precision(int cluster_id, int precision);

/**
 * Returns the precision that cluster `cluster_id` takes for `nj` j-particles with velocities:
 * `KIRIN_MIXED`, `KIRIN_DOUBLE`, `KIRIN_SINGLE` or `KIRIN_DOUBLE_SINGLE`. On a machine with a GPU,
 * a block that the CPU computes by default (docs/gpus.md) has `KIRIN_DOUBLE` in place of
 * `KIRIN_DOUBLE_SINGLE`.
 *
 * The answer depends on `nj`, on the settings, on the kind of processor or GPU and on the last
 * `kirin_set_precision`. With `adaptive` it also depends on whether noise has limited the time
 * steps.
 */
int kirin_precision_for(int cluster_id, int nj);

/* kirin's own: Fortran spellings */

/**
 * `kirin_set_precision` with scalars by reference.
 */
int kirin_set_precision_(const int *cluster_id, const int *precision);

/**
 * `kirin_precision_for` with scalars by reference.
 */
int kirin_precision_for_(const int *cluster_id, const int *nj);

/* kirin's own: the bulk interface (docs/bulk.md) */

/**
 * Opens a handle, which has no sources yet, and writes it to `*handle`.
 *
 * Handles are independent of each other and of the clusters of `g6_open`. They may be used from
 * any thread; calls for one handle wait for each other. A handle belongs to the process that
 * opened it: after a fork the child opens its own. At most 65536 can be open at a time.
 */
int kirin_bulk_open(int64_t *handle);

/**
 * Closes a handle and frees its memory.
 */
int kirin_bulk_close(int64_t handle);

/**
 * Chooses the precision of a handle, from the next `kirin_bulk_forces` on. The numbers are those
 * of `kirin_set_precision`, and a precision that the user has set wins here, too.
 */
int kirin_bulk_set_precision(int64_t handle, int precision);

/**
 * Replaces all sources of a handle by these `n`, from 0 to 2147483647. Their indices are 0 to n -
 * 1.
 *
 * `mass` and `x` are required; the other arrays are taken as zero where they are absent. Masses
 * may have any sign. `v`, `acc`, `jerk` and `snap` are the derivatives of the position at `time`,
 * from which a source is predicted to the time of `kirin_bulk_forces`. `eps2` are the squares of
 * the sources' own softening lengths, which are added to those of the targets. Forces of sources
 * with `eps2` are computed in double precision on the CPU. A refused call leaves the earlier
 * sources as they were.
 */
int kirin_bulk_set_sources(int64_t handle, int64_t n, const kirin_sources *sources);

/**
 * Changes `count` sources: entry k of each array in `sources` belongs to the source with the index
 * `index[k]`.
 *
 * What is absent stays as it was. If an index occurs more than once, the last entry wins. `eps2`
 * can be given if `kirin_bulk_set_sources` was given it, too. A refused call changes nothing.
 */
int kirin_bulk_update_sources(int64_t handle,
                              int64_t count,
                              const kirin_indices *index,
                              const kirin_sources *sources);

/**
 * Returns the number of sources of a handle.
 */
int kirin_bulk_source_count(int64_t handle);

/**
 * Computes the forces of all sources, predicted to `time`, on `n` targets. It fills the arrays of
 * `results` that are not null: `acc`, `jerk` and `pot` as `g6calc_lasthalf` defines them, the
 * index of the nearest source, and the square of its distance, without softening.
 *
 * Targets are at `x`, with velocities `v` (zero where absent). A target that is itself a source
 * gives its index in `source` and gets no force from that source. For other targets the entry of
 * `source` is negative; without any target that is a source the array may be absent. Without `x`
 * the targets are sources at their predicted positions and velocities: those that `source` lists,
 * or the first `n`. The square of a target's softening length is its entry of the targets' array
 * `eps2`; without that array it is the argument `eps2` or, without `x`, the source's own if
 * sources have their own. With `radius2`, the squares of radii, the call also makes the neighbour
 * lists. The bits are those of `g6calc_lasthalf2` for the same particles in the same precision. A
 * refused call writes nothing; if memory runs out in the middle, the results of the first targets
 * have been written.
 */
int kirin_bulk_forces(int64_t handle,
                      double time,
                      double eps2,
                      int64_t n,
                      const kirin_targets *targets,
                      const kirin_results *results);

/**
 * Writes the `n + 1` numbers `offsets` of the neighbour lists that the last `kirin_bulk_forces`
 * made; that call had `n` targets with radii. The neighbours of target k are entries `offsets[k]`
 * to `offsets[k + 1] - 1` of the array that `kirin_bulk_neighbour_indices` writes.
 */
int kirin_bulk_neighbour_offsets(int64_t handle, int64_t n, int64_t *offsets);

/**
 * Writes the indices of the sources that are nearer than the radius of each target, ascending for
 * each target and without the target itself. `indices` has room for `room` numbers, at least
 * `offsets[n]`.
 */
int kirin_bulk_neighbour_indices(int64_t handle, int64_t room, int64_t *indices);

/**
 * For Fortran: writes the message of `kirin_bulk_message` to `text`, which has `length`
 * characters. The rest is filled with blanks, and there is no zero at the end. Returns the length
 * of the message.
 */
int kirin_bulk_message_text(char *text, int64_t length);

/**
 * Returns what the bulk interface refused last in this thread, a string that lives until its next
 * refusal. Empty before the first one.
 */
const char *kirin_bulk_message(void);

/**
 * Returns what computes the forces of a handle, a string that lives as long as the process. Empty
 * if the handle stands for nothing.
 */
const char *kirin_bulk_backend(int64_t handle);

/**
 * Returns the precision of the last forces of a handle: `mixed`, `double`, `single`,
 * `double-single` or `reduced`. Before the first ones it may be `auto` or `adaptive`. Empty if the
 * handle stands for nothing.
 */
const char *kirin_bulk_precision(int64_t handle);

/* kirin's own: forces by a tree (docs/tree.md) */

/**
 * Opens a handle whose forces are found by a Barnes-Hut tree, and writes it to `*handle`. It has
 * no sources yet.
 *
 * `kirin_bulk_close`, `kirin_bulk_set_precision`, `kirin_bulk_source_count`, `kirin_bulk_backend`
 * and `kirin_bulk_precision` take this handle, too. If a call is refused, `kirin_bulk_message`
 * returns the reason. The precision of a tree is `mixed` unless another one is chosen.
 */
int kirin_tree_open(int64_t *handle);

/**
 * Replaces all sources of a tree by these `n`, from 0 to 2147483647, and builds the tree. Their
 * indices are 0 to n - 1.
 *
 * `mass` and `x` are required, and no mass may be negative; the other arrays must be null. The
 * tree is kept for any number of `kirin_tree_forces`. A refused call leaves the earlier sources as
 * they were.
 */
int kirin_tree_set_sources(int64_t handle, int64_t n, const kirin_sources *sources);

/**
 * Computes the forces of all sources on `n` targets by the tree, and writes `acc` and `pot` of
 * `results` where they are not null, as `kirin_bulk_forces` defines them; the other results must
 * be null.
 *
 * A cell with the edge l acts as a whole on targets whose distance from its centre of mass is
 * greater than l / theta + delta. Here delta is the distance of its centre of mass from its
 * centre; for 1 / theta at least 0.867 is taken, so that no target is inside such a cell. The cell
 * acts as one mass, or with `quadrupoles` = 1 as three masses that have its quadrupole moment,
 * too. `theta` may not be negative; with 0 all sources are summed. `eps2` and `targets` are those
 * of `kirin_bulk_forces`, but `v` has no effect and `radius2` must be null. The bits depend on the
 * sources and on the targets of the call, and not on the number of threads or on earlier calls. A
 * refused call writes nothing.
 */
int kirin_tree_forces(int64_t handle,
                      double theta,
                      int quadrupoles,
                      double eps2,
                      int64_t n,
                      const kirin_targets *targets,
                      const kirin_results *results);

#ifdef __cplusplus
}
#endif

#endif /* KIRIN_H */
