// Reads a particle set, computes the forces through the Fortran spellings from C++ with a
// vector class, as kira does, and prints them.
#include <cstdio>
#include <fstream>
#include <vector>

#include "kirin.h"

class vec {
    double element[3];

public:
    vec() { element[0] = element[1] = element[2] = 0; }
    double &operator[](int k) { return element[k]; }
    operator double *() { return element; }
};

typedef double (*array)[3];

static array rows(std::vector<vec> &v) { return reinterpret_cast<array>(v.data()); }

static std::ifstream &operator>>(std::ifstream &in, vec &v)
{
    for (int k = 0; k < 3; k++)
        in >> v[k];
    return in;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    std::ifstream in(argv[1]);
    int id = 0, nj, ni;
    double ti, eps2;
    in >> nj >> ni >> ti >> eps2;
    const int pipes = g6_npipes_();
    g6_open_(&id);
    double unit = 45;
    g6_set_tunit_(&unit);
    g6_set_xunit_(&unit);
    for (int j = 0; j < nj; j++) {
        int address, label;
        double t, dt, mass;
        vec k18, j6, a2, v, x;
        in >> address >> label >> t >> dt >> mass;
        in >> k18 >> j6 >> a2 >> v >> x;
        if (g6_set_j_particle_(&id, &address, &label, &t, &dt, &mass, k18, j6, a2, v, x))
            return 3;
    }
    g6_set_ti_(&id, &ti);

    std::vector<int> index(pipes), nearest(pipes), list(1000);
    std::vector<vec> x(pipes), v(pipes), acc(pipes), jerk(pipes);
    std::vector<double> pot(pipes), h2(pipes);
    for (int done = 0, n; done < ni; done += n) {
        n = ni - done < pipes ? ni - done : pipes;
        for (int i = 0; i < n; i++) {
            in >> index[i];
            in >> x[i] >> v[i];
            in >> h2[i];
        }
        g6calc_firsthalf_(&id, &nj, &n, index.data(), rows(x), rows(v), rows(acc), rows(jerk),
                          pot.data(), &eps2, h2.data());
        int status = g6calc_lasthalf2_(&id, &nj, &n, index.data(), rows(x), rows(v), &eps2,
                                       h2.data(), rows(acc), rows(jerk), pot.data(),
                                       nearest.data());
        if (status != 0 || g6_read_neighbour_list_(&id) != 0)
            return 4;
        for (int i = 0; i < n; i++) {
            int length, longest = int(list.size());
            g6_get_neighbour_list_(&id, &i, &longest, &length, list.data());
            std::printf("%12d", index[i]);
            for (int k = 0; k < 3; k++)
                std::printf("%25.16E", acc[i][k]);
            for (int k = 0; k < 3; k++)
                std::printf("%25.16E", jerk[i][k]);
            std::printf("%25.16E%12d%6d", pot[i], nearest[i], length);
            for (int k = 0; k < length; k++)
                std::printf("%12d", list[k]);
            std::printf("\n");
        }
    }
    if (!in)
        return 1;
    g6_close_(&id);
    return 0;
}
