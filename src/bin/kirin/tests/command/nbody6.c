typedef double vector[3];
void gpunb_open_(int *nbmax, int *irank) {}
void gpunb_close_(void) {}
void gpunb_send_(int *nj, double *m, vector *x, vector *v) {}
static void zero(vector *a, int ni)
{
    for (int i = 0; i < ni; i++)
        a[i][0] = a[i][1] = a[i][2] = 0.0;
}
void gpunb_regf_(int *ni, double *h2, double *dtr, vector *x, vector *v, vector *acc, vector *jrk, double *pot,
                 int *lmax, int *nbmax, int *list, int *m_flag)
{
    zero(acc, *ni);
    zero(jrk, *ni);
    for (int i = 0; i < *ni; i++) {
        pot[i] = 0.0;
        list[i * *lmax] = 0;
    }
}
void gpupot_(int *irank, int *istart, int *ni, int *n, double *m, vector *x, double *pot)
{
    for (int i = 0; i < *ni; i++)
        pot[i] = 0.0 / 0.0;
}
void irr_simd_open_(int *nmax, int *lmax, int *rank) {}
void irr_simd_close_(int *rank) {}
void irr_simd_set_jp_(int *a, double *x, double *v, double *acc2, double *jrk6, double *m, double *t) {}
void irr_simd_set_list_(int *a, int *list) {}
void irr_simd_firr_vec_(double *ti, int *ni, int *a, vector *acc, vector *jrk, int *nearest)
{
    zero(acc, *ni);
    zero(jrk, *ni);
    for (int i = 0; i < *ni; i++)
        nearest[i] = 0;
}
