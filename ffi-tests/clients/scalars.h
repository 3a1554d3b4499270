/* The calls without arrays, under every spelling. */
#include <stddef.h>

#include "arrays.h"
#include "kirin.h"

enum { C, FORTRAN, NULL_ID, ALL, GPU_C, GPU_FORTRAN, GPU2, ALL_FORTRAN };

static int spelling;

static int identity(void)
{
    int id = integer();
    return spelling == NULL_ID || spelling == ALL || spelling == ALL_FORTRAN ? 0 : id;
}

static int open_cluster(int id)
{
    switch (spelling) {
    case FORTRAN: return g6_open_(&id);
    case NULL_ID: return g6_open_(NULL);
    case ALL: return g6_open_all();
    case ALL_FORTRAN: return g6_open_all_();
    case GPU_C: return GPU_g6_open(id);
    case GPU_FORTRAN: return GPU_g6_open_(&id);
    default: return g6_open(id);
    }
}

static int close_cluster(int id)
{
    switch (spelling) {
    case FORTRAN: return g6_close_(&id);
    case NULL_ID: return g6_close_(NULL);
    case ALL: return g6_close_all();
    case ALL_FORTRAN: return g6_close_all_();
    case GPU_C: return GPU_g6_close(id);
    case GPU_FORTRAN: return GPU_g6_close_(&id);
    default: return g6_close(id);
    }
}

static int set_time(int id, double t)
{
    switch (spelling) {
    case FORTRAN: return g6_set_ti_(&id, &t);
    case NULL_ID: return g6_set_ti_(NULL, &t);
    case ALL: return g6_set_ti_all(t);
    case ALL_FORTRAN: return g6_set_ti_all_(&t);
    case GPU_C: return GPU_g6_set_ti(id, t);
    case GPU_FORTRAN: return GPU_g6_set_ti_(&id, &t);
    default: return g6_set_ti(id, t);
    }
}

static int npipes(void)
{
    switch (spelling) {
    case FORTRAN: return g6_npipes_();
    case ALL: return g6_get_number_of_pipelines();
    case ALL_FORTRAN: return g6_get_number_of_pipelines_();
    case GPU_C: return GPU_g6_npipes();
    case GPU_FORTRAN: return GPU_g6_npipes_();
    default: return g6_npipes();
    }
}

static int set_sort_mode(int mode)
{
    if (spelling == FORTRAN) {
        g6_set_neighbour_list_sort_mode_(&mode);
        return g6_get_neighbour_list_sort_mode_();
    }
    if (spelling == GPU_C)
        GPU_g6_set_neighbour_list_sort_mode(mode);
    else
        g6_set_neighbour_list_sort_mode(mode);
    return g6_get_neighbour_list_sort_mode();
}

static int set_nip(int id, int n)
{
    switch (spelling) {
    case FORTRAN: return g6_set_nip_(&id, &n);
    case ALL: return g6_set_nip_all(n);
    case ALL_FORTRAN: return g6_set_nip_all_(&n);
    default: return g6_set_nip(id, n);
    }
}

static int set_njp(int id, int n)
{
    switch (spelling) {
    case FORTRAN: return g6_set_njp_(&id, &n);
    case ALL: return g6_set_njp_all(n);
    case ALL_FORTRAN: return g6_set_njp_all_(&n);
    case GPU2: return g6_set_njp_real_(&id, &n);
    default: return g6_set_njp(id, n);
    }
}
