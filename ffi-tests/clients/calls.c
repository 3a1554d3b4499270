/* Makes the calls that a script names and prints what each returned and wrote.
 *
 * One line of the script is one call, its arguments in the order of the interface; see
 * script.rs, which writes it. Output arrays are prefilled, and one entry more than the call
 * may write is printed.
 */
#include "arrays.h"
#include "harmless.h"
#include "kirin.h"
#include "memory.h"
#include "scalars.h"

enum {
    NO_INDEX = 1, NO_X = 2, NO_V = 4, NO_H2 = 8, NO_OLD = 16, NO_ACC = 32, NO_JERK = 64,
    NO_POT = 128, NO_NEAREST = 256, SAME = 512, SHIFTED = 1024, MODE = 2048, EACH = 4096
};

static int set_particle(int id, int null)
{
    int address = integer(), label = integer();
    double t = number(), dt = number(), m = number(), s[3], j[3], a[3], v[3], x[3];
    double *sp = null == 1 ? NULL : s, *jp = null == 2 ? NULL : j, *ap = null == 3 ? NULL : a;
    double *vp = null == 4 ? NULL : v, *xp = null == 5 ? NULL : x;
    vector(s);
    vector(j);
    vector(a);
    vector(v);
    vector(x);
    switch (spelling) {
    case FORTRAN:
        return g6_set_j_particle_(&id, &address, &label, &t, &dt, &m, sp, jp, ap, vp, xp);
    case NULL_ID:
        return g6_set_j_particle_(NULL, &address, &label, &t, &dt, &m, sp, jp, ap, vp, xp);
    case ALL:
        return g6_set_j_particle_all(address, label, t, dt, m, sp, jp, ap, vp, xp);
    case ALL_FORTRAN:
        return g6_set_j_particle_all_(&address, &label, &t, &dt, &m, sp, jp, ap, vp, xp);
    case GPU_C:
        return GPU_g6_set_j_particle(id, address, label, t, dt, m, sp, jp, ap, vp, xp);
    case GPU_FORTRAN:
        return GPU_g6_set_j_particle_(&id, &address, &label, &t, &dt, &m, sp, jp, ap, vp, xp);
    default:
        return g6_set_j_particle(id, address, label, t, dt, m, sp, jp, ap, vp, xp);
    }
}

static int set_mass_position(int id)
{
    int address = integer(), label = integer(), one = 1;
    double m = number(), x[3];
    vector(x);
    switch (spelling) {
    case C: return g6_set_j_particle_mxonly(id, address, label, m, x);
    case FORTRAN: return g6_set_j_particle_mxonly_(&id, &address, &label, &m, x);
    case ALL: return g6_set_j_particle_mxonly_all(address, label, m, x);
    case ALL_FORTRAN: return g6_set_j_particle_mxonly_all_(&address, &label, &m, x);
    case GPU_C: return g6_set_j_particle_multisend_mxfast(id, one, address, label, m, x);
    case GPU_FORTRAN:
        return GPU_g6_set_j_particle_multisend_mxfast_(&id, &one, &address, &label, &m, x);
    case GPU2: return g6_set_j_particle_multisend_mxf_(&id, &one, &address, &label, &m, x);
    default: return g6_set_j_particle_multisend_mxfast_(&id, &one, &address, &label, &m, x);
    }
}

/* One particle for several clusters: whole, or mass and position only. */
static int send(int id)
{
    int count = integer(), whole = integer(), address = integer(), label = integer();
    double t = number(), dt = number(), m = number(), s[3], j[3], a[3], v[3], x[3];
    vector(s);
    vector(j);
    vector(a);
    vector(v);
    vector(x);
    if (whole)
        return spelling == FORTRAN
             ? g6_set_j_particle_multisend_(&id, &count, &address, &label, &t, &dt, &m, s, j, a, v, x)
             : g6_set_j_particle_multisend(id, count, address, label, t, dt, m, s, j, a, v, x);
    switch (spelling) {
    case FORTRAN: return g6_set_j_particle_multisend_mxfast_(&id, &count, &address, &label, &m, x);
    case GPU_FORTRAN: return GPU_g6_set_j_particle_multisend_mxfast_(&id, &count, &address, &label, &m, x);
    case GPU2: return g6_set_j_particle_multisend_mxf_(&id, &count, &address, &label, &m, x);
    default: return g6_set_j_particle_multisend_mxfast(id, count, address, label, m, x);
    }
}

/* The softening lengths of the calls that tell by a mode whether there is one or one for each. */
static double soft[MOST];

static void softenings(double eps2)
{
    int i;
    for (i = 0; i < MOST; i++)
        soft[i] = eps2 * (i + 1);
}

static int firsthalf(void)
{
    int id = identity(), nj = integer(), ni = integer(), mask = integer();
    double eps2 = number(), *h2;
    int mode = mask & EACH ? 2 : 3, *index;
    rows x, v, old;
    shift = mask & SHIFTED ? 4 : 0;
    read_probes(integer());
    index = begin(&index_a, mask & NO_INDEX);
    x = begin(&x_a, mask & NO_X);
    v = begin(&v_a, mask & NO_V);
    h2 = begin(&h2_a, mask & NO_H2);
    old = begin(&old_a, mask & NO_OLD);
    softenings(eps2);
#define ARRAYS index, x, v, old, old, (double *)old
    if (mask & MODE)
        switch (spelling) {
        case FORTRAN: return g6calc_firsthalf0_(&id, &nj, &ni, ARRAYS, soft, h2, &mode);
        case ALL: return g6calc_firsthalf0_all(nj, ni, ARRAYS, soft, h2, mode);
        case ALL_FORTRAN: return g6calc_firsthalf0_all_(&nj, &ni, ARRAYS, soft, h2, &mode);
        default: return g6calc_firsthalf0(id, nj, ni, ARRAYS, soft, h2, mode);
        }
    switch (spelling) {
    case FORTRAN: return g6calc_firsthalf_(&id, &nj, &ni, ARRAYS, &eps2, h2);
    case NULL_ID: return g6calc_firsthalf_(NULL, &nj, &ni, ARRAYS, &eps2, h2);
    case ALL: return g6calc_firsthalf_all(nj, ni, ARRAYS, eps2, h2);
    case ALL_FORTRAN: return g6calc_firsthalf_all_(&nj, &ni, ARRAYS, &eps2, h2);
    case GPU_C: return GPU_g6calc_firsthalf(id, nj, ni, ARRAYS, eps2, h2);
    case GPU_FORTRAN: return GPU_g6calc_firsthalf_(&id, &nj, &ni, ARRAYS, &eps2, h2);
    case GPU2: return GPU2_g6calc_firsthalf_(&id, &nj, &ni, ARRAYS, &eps2, h2);
    default: return g6calc_firsthalf(id, nj, ni, ARRAYS, eps2, h2);
    }
#undef ARRAYS
}

static void lasthalf(void)
{
    int form = integer(), id = identity(), nj = integer(), ni = integer(), mask = integer();
    double eps2 = number();
    int fill = integer(), status, mode = mask & EACH ? 2 : 3, *index, *nearest;
    double *h2, *pot;
    float *distance;
    rows x, v, acc, jerk;
    shift = mask & SHIFTED ? 4 : 0;
    read_probes(integer());
    prefill(fill);
    index = begin(&index_a, mask & NO_INDEX);
    x = begin(&x_a, mask & NO_X);
    v = begin(&v_a, mask & NO_V);
    h2 = begin(&h2_a, mask & NO_H2);
    acc = begin(&acc_a, mask & NO_ACC);
    jerk = begin(mask & SAME ? &acc_a : &jerk_a, mask & NO_JERK);
    pot = begin(&pot_a, mask & NO_POT);
    nearest = begin(&nearest_a, mask & NO_NEAREST);
    distance = begin(&distance_a, 0);
    softenings(eps2);
#define BY_VALUE id, nj, ni, index, x, v, eps2, h2, acc, jerk, pot
#define BY_REFERENCE &id, &nj, &ni, index, x, v, &eps2, h2, acc, jerk, pot
#define FOR_ALL_FORTRAN &nj, &ni, index, x, v, &eps2, h2, acc, jerk, pot
#define FOR_ALL nj, ni, index, x, v, eps2, h2, acc, jerk, pot
#define BY_MODE index, x, v, soft, h2, acc, jerk, pot
    switch (form * 10 + spelling) {
    case 0 + FORTRAN: status = g6calc_lasthalf_(BY_REFERENCE); break;
    case 0 + NULL_ID: status = g6calc_lasthalf_(NULL, &nj, &ni, index, x, v, &eps2, h2, acc, jerk, pot); break;
    case 0 + ALL: status = g6calc_lasthalf_all(FOR_ALL); break;
    case 0 + ALL_FORTRAN: status = g6calc_lasthalf_all_(FOR_ALL_FORTRAN); break;
    case 0 + GPU_C: status = GPU_g6calc_lasthalf(BY_VALUE); break;
    case 0 + GPU_FORTRAN: status = GPU_g6calc_lasthalf_(BY_REFERENCE); break;
    case 0 + GPU2: status = GPU2_g6calc_lasthalf_(BY_REFERENCE); break;
    case 10 + FORTRAN: status = g6calc_lasthalf2_(BY_REFERENCE, nearest); break;
    case 10 + NULL_ID:
        status = g6calc_lasthalf2_(NULL, &nj, &ni, index, x, v, &eps2, h2, acc, jerk, pot, nearest);
        break;
    case 10 + ALL: status = g6calc_lasthalf2_all(FOR_ALL, nearest); break;
    case 10 + ALL_FORTRAN: status = g6calc_lasthalf2_all_(FOR_ALL_FORTRAN, nearest); break;
    case 10 + GPU2: status = GPU2_g6calc_lasthalf2_(BY_REFERENCE, nearest); break;
    case 20 + FORTRAN: status = g6calc_lasthalf2p_(BY_REFERENCE, nearest, distance); break;
    case 30 + FORTRAN: status = g6calc_lasthalfn_(BY_REFERENCE); break;
    case 40 + FORTRAN: status = g6calc_lasthalf2n_(BY_REFERENCE, nearest); break;
    case 50 + FORTRAN: status = g6calc_lasthalf2np_(BY_REFERENCE, nearest, distance); break;
    case 60 + FORTRAN: status = g6calc_lasthalf0_(&id, &nj, &ni, BY_MODE, &mode); break;
    case 60 + ALL: status = g6calc_lasthalf0_all(nj, ni, BY_MODE, mode); break;
    case 60 + ALL_FORTRAN: status = g6calc_lasthalf0_all_(&nj, &ni, BY_MODE, &mode); break;
    default:
        switch (form) {
        case 1: status = g6calc_lasthalf2(BY_VALUE, nearest); break;
        case 2: status = g6calc_lasthalf2p(BY_VALUE, nearest, distance); break;
        case 3: status = g6calc_lasthalfn(BY_VALUE); break;
        case 4: status = g6calc_lasthalf2n(BY_VALUE, nearest); break;
        case 5: status = g6calc_lasthalf2np(BY_VALUE, nearest, distance); break;
        case 6: status = g6calc_lasthalf0(id, nj, ni, BY_MODE, mode); break;
        case 7: status = g6calc_lasthalf0a_(&id, &nj, &ni, BY_MODE, nearest, &mode); break;
        default: status = g6calc_lasthalf(BY_VALUE);
        }
    }
    printf("%d", status);
    print_forces(ni, mask & SAME, form && form != 3 && form != 6, form == 2 || form == 5);
}

static int read_lists(int id)
{
    switch (spelling) {
    case FORTRAN: return g6_read_neighbour_list_(&id);
    case NULL_ID: return g6_read_neighbour_list_(NULL);
    case ALL: return g6_read_neighbour_list_all();
    case ALL_FORTRAN: return g6_read_neighbour_list_all_();
    case GPU_C: return g6_read_neighbour_list_old(id);
    case GPU_FORTRAN: return GPU_g6_read_neighbour_list_(&id);
    case GPU2: return g6_read_neighbour_list_old_(&id);
    default: return g6_read_neighbour_list(id);
    }
}

static void get_list(void)
{
    int id = identity(), pipe = integer(), most = integer(), null = integer();
    int status, length = -77, i, *list, *count = null == 2 ? NULL : &length;
    shift = 0;
    for (i = 0; i < MOST; i++)
        put_int(&list_a, i, -77);
    list = begin(&list_a, null == 1);
    switch (spelling) {
    case FORTRAN: status = g6_get_neighbour_list_(&id, &pipe, &most, count, list); break;
    case NULL_ID: status = g6_get_neighbour_list_(NULL, &pipe, &most, count, list); break;
    case ALL: status = g6_get_neighbour_list_all(pipe, most, count, list); break;
    case ALL_FORTRAN: status = g6_get_neighbour_list_all_(&pipe, &most, count, list); break;
    case GPU_FORTRAN: status = GPU_g6_get_neighbour_list_(&id, &pipe, &most, count, list); break;
    default: status = g6_get_neighbour_list(id, pipe, most, count, list);
    }
    printf("%d %d", status, length);
    for (i = 0; i <= (length > 0 ? length : 0); i++)
        printf(" %d", get_int(&list_a, i));
}

static int set_probe(int id)
{
    int address = integer(), label = integer();
    double x[3], v[3], eps2, h2;
    vector(x);
    vector(v);
    eps2 = number();
    h2 = number();
    switch (spelling) {
    case FORTRAN: return g6_set_i_particle_(&id, &address, &label, x, v, &eps2, &h2);
    case ALL: return g6_set_i_particle_all(address, label, x, v, eps2, h2);
    case ALL_FORTRAN: return g6_set_i_particle_all_(&address, &label, x, v, &eps2, &h2);
    default: return g6_set_i_particle(id, address, label, x, v, eps2, h2);
    }
}

/* Registers from `address` on, each with its own softening. */
static int set_probes(int id)
{
    int address = integer(), nip = integer(), mask = integer();
    double eps2 = number();
    shift = 0;
    read_probes(integer());
    softenings(eps2);
    return g6_set_i_particle_vector_(&id, &address, &nip, begin(&index_a, 0), begin(&x_a, mask & NO_X),
                                     begin(&v_a, 0), soft, begin(&h2_a, mask & NO_H2));
}

static void get_force(void)
{
    int id = identity(), ni = integer(), etc = integer(), status, i;
    int *nearest, *flag = begin(&list_a, 0);
    rows acc, jerk;
    double *pot;
    shift = 0;
    prefill(-1);
    for (i = 0; i < MOST; i++)
        put_int(&list_a, i, -77);
    acc = begin(&acc_a, 0);
    jerk = begin(&jerk_a, 0);
    pot = begin(&pot_a, 0);
    nearest = begin(&nearest_a, 0);
    flag = begin(&list_a, 0);
    if (etc)
        status = spelling == FORTRAN ? g6_get_force_etc_(&id, acc, jerk, pot, nearest, flag)
               : spelling == ALL ? g6_get_force_etc_all(acc, jerk, pot, nearest, flag)
               : spelling == ALL_FORTRAN ? g6_get_force_etc_all_(acc, jerk, pot, nearest, flag)
               : g6_get_force_etc(id, acc, jerk, pot, nearest, flag);
    else
        status = spelling == FORTRAN ? g6_get_force_(&id, acc, jerk, pot, flag)
               : spelling == ALL ? g6_get_force_all(acc, jerk, pot, flag)
               : spelling == ALL_FORTRAN ? g6_get_force_all_(acc, jerk, pot, flag)
               : g6_get_force(id, acc, jerk, pot, flag);
    printf("%d", status);
    print_forces(ni, 0, etc, 0);
    for (i = 0; i <= ni; i++)
        printf(" %d", get_int(&list_a, i));
}

static void predicted(void)
{
    int id = identity(), nj = integer(), status, i, k;
    shift = 0;
    prefill(-1);
    status = spelling == FORTRAN ? g6_get_predicted_j_particles_(&id, &nj, begin(&acc_a, 0), begin(&jerk_a, 0))
           : spelling == ALL ? g6_get_predicted_j_particles_all(nj, begin(&acc_a, 0), begin(&jerk_a, 0))
           : spelling == ALL_FORTRAN ? g6_get_predicted_j_particles_all_(&nj, begin(&acc_a, 0), begin(&jerk_a, 0))
           : g6_get_predicted_j_particles(id, nj, begin(&acc_a, 0), begin(&jerk_a, 0));
    printf("%d", status);
    for (i = 0; i <= (nj > 0 ? nj : 0); i++) {
        for (k = 0; k < 3; k++)
            printf(" %.17g", get(&acc_a, 3 * i + k));
        for (k = 0; k < 3; k++)
            printf(" %.17g", get(&jerk_a, 3 * i + k));
    }
}

int main(int argc, char **argv)
{
    char name[32];
    if (argc != 2 || !freopen(argv[1], "r", stdin))
        return 9;
    while (scanf("%31s", name) == 1) {
        if (!strcmp(name, "spelling")) {
            spelling = integer();
            continue;
        }
        if (!strcmp(name, "open"))
            printf("%d", open_cluster(identity()));
        else if (!strcmp(name, "close"))
            printf("%d", close_cluster(identity()));
        else if (!strcmp(name, "npipes"))
            printf("%d", npipes());
        else if (!strcmp(name, "time")) {
            int id = identity();
            printf("%d", set_time(id, number()));
        } else if (!strcmp(name, "particle")) {
            int id = identity(), null = integer();
            printf("%d", set_particle(id, null));
        } else if (!strcmp(name, "mass"))
            printf("%d", set_mass_position(identity()));
        else if (!strcmp(name, "firsthalf"))
            printf("%d", firsthalf());
        else if (!strcmp(name, "lasthalf"))
            lasthalf();
        else if (!strcmp(name, "read"))
            printf("%d", read_lists(identity()));
        else if (!strcmp(name, "get"))
            get_list();
        else if (!strcmp(name, "sort"))
            printf("%d", set_sort_mode(integer()));
        else if (!strcmp(name, "nip")) {
            int id = identity();
            printf("%d", set_nip(id, integer()));
        } else if (!strcmp(name, "njp")) {
            int id = identity();
            printf("%d", set_njp(id, integer()));
        } else if (!strcmp(name, "probe"))
            printf("%d", set_probe(identity()));
        else if (!strcmp(name, "probes"))
            printf("%d", set_probes(identity()));
        else if (!strcmp(name, "send"))
            printf("%d", send(identity()));
        else if (!strcmp(name, "force"))
            get_force();
        else if (!strcmp(name, "predicted"))
            predicted();
        else if (!strcmp(name, "memory"))
            printf("%ld", most_memory());
        else if (!strcmp(name, "harmless"))
            printf("%d", without_effect(identity()));
        else {
            fprintf(stderr, "no call %s\n", name);
            return 9;
        }
        printf("\n");
        fflush(stdout);
    }
    return 0;
}
