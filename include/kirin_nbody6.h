/* kirin_nbody6.h: the library of NBODY6++ and NBODY6, as libkirin_nbody6 exports it.
 *
 * Made from the library's table of calls by `cargo run -p ffi-tests --bin generate`:
 * change the table, not this file.
 *
 * Other programs have functions of some of these names, so they are not in libkirin: link with
 * -lkirin_nbody6 -lkirin.
 *
 * There are Fortran names only, with a trailing underscore, and all arguments by reference: x[n][3]
 * is X(3,N). The arguments are those of NBODY6++ (nbodyx and beijing). Four settings of KIRIN_NBODY6 give
 * them another meaning. Unless the program imports gpunb_profile_ or irr_simd_open_ from the shared library,
 * 6 is also taken where it imports gpuirr_open_, and 6-2009 where it imports cnbint_ without that:
 *
 *   amuse  AMUSE's nbody6xx and NBODY6++ of 2012: gpunb_regf_ has no m_flag, and neighbours are nearer than h2
 *   6      NBODY6 and NBODY7: gpunb_open_ and gpunb_devinit_ have no irank, gpunb_regf_ no
 *          m_flag, and neighbours are nearer than m_j h2; gpupot_ has (n, m, x, pot)
 *   6-radius  older versions of NBODY6: the same, and neighbours are nearer than h2
 *   6-2009  the first versions of NBODY6 and NBODY6++ for GPUs: as 6-radius, and gpunb_regf_ has no dtr
 *
 * Every call returns an int, which the original libraries do not: 0 for success and a negative number with one
 * line on stderr for a refusal (the numbers of kirin.h). Refused forces and potentials are NaN, and each list of a refused
 * gpunb_regf_ has the first two stars at most. Nothing is written by a gpupot_ whose numbers contradict
 * each other, nor by a gpunb_regf_ with an nbmax that is not positive or an m_flag that is neither 0 nor 1.
 * No list has a greatest length, and no array is read or written beyond what the arguments say.
 *
 * Regular forces and potentials have the precision that KIRIN_PRECISION says, irregular forces
 * double precision. The former are computed on a GPU where KIRIN_BACKEND finds or allows one, on one
 * of several; the latter on the CPU.
 */
#ifndef KIRIN_NBODY6_H
#define KIRIN_NBODY6_H

#ifdef __cplusplus
extern "C" {
#endif

/* The library of NBODY6++ and NBODY6: Fortran spellings */

/**
 * Chooses the device.
 *
 * Accepted without effect: the settings say what computes.
 */
int gpunb_devinit_(const int *irank);

/**
 * Opens the library for `nbmax` sources. kirin takes any number of them, and needs no such call; a
 * second one changes nothing. NBODY6 has no `irank`.
 */
int gpunb_open_(const int *nbmax, const int *irank);

/**
 * Forgets the sources and gives back their memory. Nothing happens where there are none.
 */
int gpunb_close_(void);

/**
 * Replaces all sources: addresses `0..nj`, predicted by the caller to the time of the block.
 * `mj[nj]`, `xj[nj][3]`, `vj[nj][3]`.
 */
int gpunb_send_(const int *nj, const double *mj, double (*xj)[3], double (*vj)[3]);

/**
 * Computes the regular forces on `ni` particles and lists their neighbours. The force is that of
 * all sources but the particle's neighbours.
 *
 * A source j is a neighbour if min(|r|^2, |r + dtr v|^2) < `h2[ni]`, or < m_j `h2[ni]`, with r =
 * x_j - x_i and v = v_j - v_i, and `dtr[ni]` the regular step. `m_flag` is 0 for the first
 * criterion and 1 for the second. NBODY6 and AMUSE do not pass it: NBODY6 compares with m_j h2,
 * AMUSE with h2. NBODY6 of 2009 does not pass `dtr` either.
 *
 * The forces are `acc[ni][3]` = sum m r / r^3, `jrk[ni][3]` = sum m (v - 3 (r.v) r / r^2) / r^3,
 * `pot[ni]` = sum m / r, over all sources that are no neighbours. There is no softening, and
 * sources at distance zero add nothing.
 *
 * `list` has `ni` rows of `lmax` integers. A row has the number of neighbours, then their
 * addresses, from 0 and ascending, the particle itself among them. If there are more than `nbmax`
 * (or `lmax` - 1) neighbours, their number is written with a minus sign, and the rest of the row
 * stays as it was. The force is right all the same.
 *
 * Older libraries lose digits, or answer NaN, for close pairs and for `h2` = 0. They write beyond
 * `ni`, up to the next multiple of 4. If there are too many neighbours, they tell too small a
 * number.
 */
int gpunb_regf_(const int *ni,
                const double *h2,
                const double *dtr,
                double (*xi)[3],
                double (*vi)[3],
                double (*acc)[3],
                double (*jrk)[3],
                double *pot,
                const int *lmax,
                const int *nbmax,
                int *list,
                const int *m_flag);

/**
 * Writes a line on stderr: calls, pairs and time since the last report, for rank `irank`.
 */
int gpunb_profile_(const int *irank);

/**
 * Computes the positive potentials `pot[ni]` = sum m / r that `n` particles with the masses `m[n]`
 * and positions `x[n][3]` cause at some of them: the particles `istart` to `istart + ni - 1`,
 * counted from 1. The potential at `istart` goes to `pot[0]`. Particles at distance zero, such as
 * the particle itself, are left out.
 *
 * NBODY6 passes four arguments: `n`, `m`, `x`, `pot`, and gets the potentials at all particles.
 *
 * The CPU libraries of NBODY6++ write from `pot[istart - 1]` on; its GPU library writes as this
 * one.
 */
int gpupot_(const int *irank,
            const int *istart,
            const int *ni,
            const int *n,
            const double *m,
            double (*x)[3],
            double *pot);

/**
 * As `gpupot_`, for NBODY7 with MPI. `pot` has `n` entries: the potentials of the particles
 * `istart` to `istart + ni - 1` go to `pot[istart - 1]` to `pot[istart + ni - 2]`, and the others
 * stay as they were.
 */
int gpupot_range_(const int *istart,
                  const int *ni,
                  const int *n,
                  const double *m,
                  double (*x)[3],
                  double *pot);

/**
 * Makes room for `nmax` stars. A second call keeps stars and lists. Neighbour lists have any
 * length: `lmax` is not looked at.
 */
int irr_simd_open_(const int *nmax, const int *lmax, const int *rank);

/**
 * Forgets all stars. No other thread may be in a call of these.
 */
int irr_simd_close_(const int *rank);

/**
 * Writes a line on stderr: calls, pairs and time since the last report.
 */
int irr_simd_profile_(const int *rank);

/**
 * Stores the star at address `addr`, from 1: position, velocity, half of the acceleration, a sixth
 * of the jerk, mass, and the time at which they hold. Threads may call it at once for different
 * addresses.
 */
int irr_simd_set_jp_(const int *addr,
                     const double *pos,
                     const double *vel,
                     const double *acc2,
                     const double *jrk6,
                     const double *mass,
                     const double *time);

/**
 * Stores the neighbours of the star at address `addr`. `nblist[0]` is their number, which has no
 * limit. Their addresses follow, from 1. Threads may call it at once for different addresses.
 */
int irr_simd_set_list_(const int *addr, const int *nblist);

/**
 * Predicts the `ni` stars at the addresses `addr[ni]`, and their neighbours, to the time `ti`, and
 * sums the forces of the neighbours: `acc[ni][3]`, `jrk[ni][3]`. `nnbid[ni]` gets the address of
 * the nearest neighbour, 0 where there is none.
 *
 * All of it is double precision, whatever `KIRIN_PRECISION` says. Neighbours that were never
 * stored have no mass. The force is NaN at an address of `addr` without a star, and at one whose
 * last list was refused; stderr names the first such address.
 */
int irr_simd_firr_vec_(const double *ti,
                       const int *ni,
                       const int *addr,
                       double (*acc)[3],
                       double (*jrk)[3],
                       int *nnbid);

/* Irregular forces of NBODY6 and NBODY7, and their helpers: Fortran spellings */

/**
 * The same as `irr_simd_open_`.
 */
int gpuirr_open_(const int *nmax, const int *lmax);

/**
 * The same as `irr_simd_close_`.
 */
int gpuirr_close_(void);

/**
 * The same as `irr_simd_set_jp_`.
 */
int gpuirr_set_jp_(const int *addr,
                   const double *pos,
                   const double *vel,
                   const double *acc2,
                   const double *jrk6,
                   const double *mass,
                   const double *time);

/**
 * The same as `irr_simd_set_list_`.
 */
int gpuirr_set_list_(const int *addr, const int *nblist);

/**
 * Sets the time `ti` of the forces that follow. Each star is predicted when it is needed: `js` and
 * `je` are not looked at.
 */
int gpuirr_pred_all_(const int *js, const int *je, const double *ti);

/**
 * The same as `gpuirr_pred_all_`.
 */
int gpuirr_pred_act_(const int *ni, const int *addr, const double *ti);

/**
 * Sums the forces of the neighbours of `ni` stars, `acc[ni][3]` and `jrk[ni][3]`, at the time of
 * the last prediction.
 */
int gpuirr_firr_vec_(const int *ni, const int *addr, double (*acc)[3], double (*jrk)[3]);

/**
 * As `gpuirr_firr_vec_`, for one star: `acc[3]`, `jrk[3]`.
 */
int gpuirr_firr_(const int *addr, double *acc, double *jrk);

/**
 * Predicts particles `js` to `je`, from 1, of NBODY6's own arrays to `time`, with s = `time` - t0:
 * x = x0 + s (x0dot + s (f + s fdot)) and xdot = x0dot + 2 s (f + 1.5 s fdot). Particles with
 * `tpred` = `time` are left alone, and `tpred` becomes `time`.
 */
int cxvpred_(const int *js,
             const int *je,
             const double *time,
             const double *t0,
             double (*x0)[3],
             double (*x0dot)[3],
             double (*f)[3],
             double (*fdot)[3],
             double (*x)[3],
             double (*xdot)[3],
             double *tpred);

/**
 * Sums the force `f[3]` and its derivative `fdot[3]` that the particles in `nblist` exert on
 * particle `i`. `nblist` has `nnb` - 1 entries. Particles have numbers from 1. The arrays
 * `pos[][3]`, `vel[][3]` and `mass[]` hold at one time. `f` and `fdot` are NaN if the call is
 * refused.
 */
int cnbint_(const int *i,
            double (*pos)[3],
            double (*vel)[3],
            const double *mass,
            const int *nnb,
            const int *nblist,
            double *f,
            double *fdot);

/**
 * Writes the hours, minutes and seconds since the library was opened.
 */
int wtime_(int *ihour, int *imin, int *isec);

#ifdef __cplusplus
}
#endif

#endif /* KIRIN_NBODY6_H */
