/* The arrays of the client calls.c, and the reading and printing of numbers. */
#ifndef ARRAYS_H
#define ARRAYS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };

typedef double (*rows)[3];

static double number(void)
{
    char word[64];
    if (scanf("%63s", word) != 1) {
        fprintf(stderr, "the script ends inside a call\n");
        exit(9);
    }
    return strtod(word, NULL);
}

static int integer(void) { return (int)number(); }

static void vector(double v[3])
{
    int k;
    for (k = 0; k < 3; k++)
        v[k] = number();
}

/* Memory for one array, which begins at an address that is no multiple of 8 if asked for:
   Fortran aligns COMMON blocks to four bytes. */
struct array {
    char bytes[3 * sizeof(double) * MOST + 16];
};

static struct array index_a, x_a, v_a, h2_a, acc_a, jerk_a, pot_a, nearest_a, distance_a, old_a, list_a;
static int shift;

static void *begin(struct array *a, int missing) { return missing ? NULL : a->bytes + shift; }
static void put(struct array *a, int i, double value)
{
    memcpy(a->bytes + shift + 8 * i, &value, 8);
}
static double get(struct array *a, int i)
{
    double value;
    memcpy(&value, a->bytes + shift + 8 * i, 8);
    return value;
}
static void put_int(struct array *a, int i, int value)
{
    memcpy(a->bytes + shift + 4 * i, &value, 4);
}
static int get_int(struct array *a, int i)
{
    int value;
    memcpy(&value, a->bytes + shift + 4 * i, 4);
    return value;
}

static void read_probes(int given)
{
    int i, k;
    memset(index_a.bytes, 0, sizeof index_a.bytes);
    memset(x_a.bytes, 0, sizeof x_a.bytes);
    memset(v_a.bytes, 0, sizeof v_a.bytes);
    memset(h2_a.bytes, 0, sizeof h2_a.bytes);
    memset(old_a.bytes, 255, sizeof old_a.bytes);
    for (i = 0; i < given; i++) {
        put_int(&index_a, i, integer());
        for (k = 0; k < 3; k++)
            put(&x_a, 3 * i + k, number());
        for (k = 0; k < 3; k++)
            put(&v_a, 3 * i + k, number());
        put(&h2_a, i, number());
    }
}

static void prefill(int nearest)
{
    int i;
    for (i = 0; i < 3 * MOST; i++) {
        put(&acc_a, i, -77.25);
        put(&jerk_a, i, -77.25);
    }
    for (i = 0; i < MOST; i++) {
        float f = -77.25F;
        put(&pot_a, i, -77.25);
        put_int(&nearest_a, i, nearest);
        memcpy(distance_a.bytes + shift + 4 * i, &f, 4);
    }
}

static void print_forces(int ni, int same, int nearest, int distance)
{
    int i, k;
    for (i = 0; i <= (ni > 0 ? ni : 0) && i < MOST; i++) {
        for (k = 0; k < 3; k++)
            printf(" %.17g", get(&acc_a, 3 * i + k));
        for (k = 0; k < 3; k++)
            printf(" %.17g", get(same ? &acc_a : &jerk_a, 3 * i + k));
        printf(" %.17g", get(&pot_a, i));
        if (nearest)
            printf(" %d", get_int(&nearest_a, i));
        if (distance) {
            float f;
            memcpy(&f, distance_a.bytes + shift + 4 * i, 4);
            printf(" %.17g", f);
        }
    }
}

#endif
