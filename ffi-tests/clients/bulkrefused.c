/* Refusals of the bulk interface: bulkrefused WHAT:
 *   errors  a line for each refusal: code and message
 *   fork    a child is refused its parent's handle, and opens its own
 * Prints what is wrong, too. */
#define _GNU_SOURCE
#include <sys/wait.h>
#include <unistd.h>

#include "bulk.h"

static void show(const char *what, int status)
{
    char text[300];
    const int length = kirin_bulk_message_text(text, sizeof text);
    if (status >= 0 || length != (int)strlen(kirin_bulk_message()) || memcmp(text, kirin_bulk_message(), (size_t)length))
        printf("wrong: %s gives %d\n", what, status);
    printf("%s | %d | %s\n", what, status, kirin_bulk_message());
}

static void sources_refused(int64_t handle)
{
    int64_t bad = N;
    kirin_sources part;
    const kirin_sources s = sources(1);
    kirin_indices which = {&bad, 0};
    show("a negative count", kirin_bulk_set_sources(handle, -1, &s));
    show("too many sources", kirin_bulk_set_sources(handle, 1LL << 31, &s));
    show("no arrays", kirin_bulk_set_sources(handle, N, NULL));
    part = s;
    part.x.at = NULL;
    show("no positions", kirin_bulk_set_sources(handle, N, &part));
    part = s;
    part.reserved[2] = (const char *)NULL + 1;
    show("a reserved word", kirin_bulk_set_sources(handle, N, &part));
    star[1234].v[1] = NAN;
    show("NaN", kirin_bulk_set_sources(handle, N, &s));
    star[1234].v[1] = 0.0;
    star[N - 1].m = -INFINITY;
    show("infinity", kirin_bulk_set_sources(handle, N, &s));
    star[N - 1].m = 1.0;
    part = s;
    part.eps2.at = &star[0].eps2;
    part.eps2.step = sizeof star[0];
    star[9].eps2 = -1e-9;
    show("softening of a source that is negative", kirin_bulk_set_sources(handle, N, &part));
    show("an index beyond the sources", kirin_bulk_update_sources(handle, 1, &which, &s));
    bad = -1;
    show("a negative index", kirin_bulk_update_sources(handle, 1, &which, &s));
    bad = 0;
    star[0].x[0] = NAN;
    show("NaN in an update", kirin_bulk_update_sources(handle, 1, &which, &s));
    part = s;
    part.x.at = NULL;
    part.eps2 = part.mass;
    show("softening in an update", kirin_bulk_update_sources(handle, 1, &which, &part));
    show("no indices", kirin_bulk_update_sources(handle, 1, NULL, &s));
}

/* Velocities have no effect, whatever they are. */
static void without_jerks(int64_t handle, kirin_targets t, kirin_results r)
{
    const double v = vi[5][1];
    r.jerk.at = NULL;
    vi[5][1] = NAN;
    good(kirin_bulk_forces(handle, 0.0, 0.0, NI, &t, &r), "velocities without jerks");
    same("velocities without jerks", 17, 1);
    t.x.at = NULL;
    good(kirin_bulk_forces(handle, 0.0, 0.0, NI / 2, &t, &r), "velocities without positions and jerks");
    vi[5][1] = v;
}

static void forces_refused(int64_t handle)
{
    static int64_t places[N + 1];
    kirin_targets t = targets();
    kirin_results r = results(&found);
    show("lists that were not made", kirin_bulk_neighbour_offsets(handle, NI, places));
    show("time that is NaN", kirin_bulk_forces(handle, NAN, 0.0, NI, &t, &r));
    show("softening that is infinite", kirin_bulk_forces(handle, 0.0, INFINITY, NI, &t, &r));
    show("softening that is negative", kirin_bulk_forces(handle, 0.0, -1e-4, NI, &t, &r));
    ei2[9] = -1e-9;
    show("softening of a target that is negative", kirin_bulk_forces(handle, 0.0, 0.0, NI, &t, &r));
    ei2[9] = 0.0;
    show("a negative number of targets", kirin_bulk_forces(handle, 0.0, 0.0, -5, &t, &r));
    self[3] = N;
    show("a target that is no source", kirin_bulk_forces(handle, 0.0, 0.0, NI, &t, &r));
    self[3] = 21;
    xi[17][2] = NAN;
    show("a target at NaN", kirin_bulk_forces(handle, 0.0, 0.0, NI, &t, &r));
    xi[17][2] = 0.5;
    t.x.at = NULL;
    show("velocities without positions", kirin_bulk_forces(handle, 0.0, 0.0, NI, &t, &r));
    t.v.at = NULL;
    t.source.at = NULL;
    show("more targets than sources", kirin_bulk_forces(handle, 0.0, 0.0, N + 1, &t, &r));
    t = targets();
    without_jerks(handle, t, r);
    t.radius2.at = hi2;
    good(kirin_bulk_forces(handle, 0.0, 0.0, NI, &t, NULL), "lists alone");
    show("another number of targets", kirin_bulk_neighbour_offsets(handle, NI - 1, places));
    show("too little room", kirin_bulk_neighbour_indices(handle, 1, places));
    show("a null pointer for lists", kirin_bulk_neighbour_indices(handle, 1LL << 40, NULL));
    show("precision", kirin_bulk_set_precision(handle, KIRIN_REDUCED + 1));
    show("a null pointer for the message", kirin_bulk_message_text(NULL, 5));
}

static void errors(void)
{
    int64_t handle = 0, closed = 0;
    kirin_sources s;
    kirin_targets t;
    kirin_results r = results(&found);
    make_stars(1);
    make_targets();
    s = sources(1);
    t = targets();
    show("a null pointer for the handle", kirin_bulk_open(NULL));
    good(kirin_bulk_open(&closed), "open");
    good(kirin_bulk_close(closed), "close");
    show("closing twice", kirin_bulk_close(closed));
    show("a closed handle", kirin_bulk_forces(closed, 0.0, 0.0, 1, &t, &r));
    show("no handle", kirin_bulk_set_sources(0, N, &s));
    good(kirin_bulk_open(&handle), "open");
    good(kirin_bulk_set_sources(handle, N, &s), "sources");
    good(kirin_bulk_forces(handle, 0.0, 0.0, NI, &t, &r), "forces");
    expected = found;
    sources_refused(handle);
    forces_refused(handle);

    /* Nothing was lost. */
    xi[17][2] = noise();
    t.radius2.at = hi2;
    good(kirin_bulk_forces(handle, 0.0, 0.0, 17, &t, &r), "forces after all this");
    same("after refusals", 17, 1);
    good(kirin_bulk_forces(handle, 0.0, 0.0, 0, NULL, NULL), "no targets");
    good(kirin_bulk_set_sources(handle, 0, NULL), "no sources");
    t.source.at = NULL;
    good(kirin_bulk_forces(handle, 0.0, 0.0, 17, &t, &r), "no sources");
    if (kirin_bulk_source_count(handle) != 0 || found.acc[0][0] != 0.0)
        say("no sources", "force", 0);
    good(kirin_bulk_close(handle), "close");
}

static void forks(void)
{
    int64_t handle = 0;
    int status = -1;
    kirin_sources s;
    kirin_targets t;
    kirin_results r = results(&found);
    pid_t child;
    make_stars(1);
    make_targets();
    s = sources(1);
    t = targets();
    good(kirin_bulk_open(&handle), "open");
    good(kirin_bulk_set_sources(handle, N, &s), "sources");
    good(kirin_bulk_forces(handle, 0.0, 0.0, NI, &t, &r), "forces");
    expected = found;
    fflush(stdout);
    child = fork();
    if (child == 0) {
        int64_t own = 0;
        alarm(60);
        show("use after a fork", kirin_bulk_forces(handle, 0.0, 0.0, NI, &t, &r));
        show("closing after a fork", kirin_bulk_close(handle));
        good(kirin_bulk_open(&own), "open in the child");
        good(kirin_bulk_set_sources(own, N, &s), "sources in the child");
        memset(&found, 0, sizeof found);
        good(kirin_bulk_forces(own, 0.0, 0.0, NI, &t, &r), "forces in the child");
        same("in the child", NI, 1);
        good(kirin_bulk_close(own), "close in the child");
        fflush(stdout);
        _exit(wrong != 0);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        say("child", "status", status);
    memset(&found, 0, sizeof found);
    good(kirin_bulk_forces(handle, 0.0, 0.0, NI, &t, &r), "forces in the parent");
    same("in the parent", NI, 1);
    good(kirin_bulk_close(handle), "close");
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "errors"))
        errors();
    else if (!strcmp(what, "fork"))
        forks();
    else
        return 2;
    return 0;
}
