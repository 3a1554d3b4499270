// The time step and the encounters of a bin: src/time_step.rs, src/relaxation.rs.

// Neighbouring bins on each side that count for the relaxation time of a bin.
#define NEIGHBOURS 2
#define FRICTION 7.0
// See LIMIT, RIGHT_ANGLE, TYPICAL in relaxation.rs, and MOST_ENCOUNTERS in settings.rs.
#define LIMIT 0.2
#define RIGHT_ANGLE 0.5
#define TYPICAL (1.0 / 32.0)
#define MOST_ENCOUNTERS 1000u

// Number of stars in the unit of volume from the star before `begin` to the one before `end`.
__device__ inline double density_between(const double *radii, int begin, int end)
{
    const double inner = begin == 0 ? 0.0 : radii[begin - 1];
    const double outer = radii[end - 1];
    const double volume = 4.0 / 3.0 * PI * (outer * outer * outer - inner * inner * inner);
    return volume > 0.0 ? double(end - begin - 1) / volume : 0.0;
}

// What equation 7 needs to know of some stars.
struct Moments {
    double count, mass, square, energy, heaviest;
};

// How many encounters of a pair stand for a step: a fixed number, or, if that is 0, `scale` times the square of its mass.
struct Number {
    unsigned fixed;
    double scale;

    __device__ inline unsigned of_pair(double mass) const
    {
        if (fixed > 0)
            return fixed;
        const double number = scale * mass * mass;
        if (!(number > 1.0))
            return 1;
        if (number > double(MOST_ENCOUNTERS))
            return MOST_ENCOUNTERS;
        const unsigned below = int(number);
        return double(below) < number ? below + 1 : below;
    }
};

// The pairs of each round of a round-robin tournament.
struct Matching {
    int circle, round, odd;

    __device__ inline Matching(int count) : circle(count % 2 ? count : count - 1), round(0), odd(count % 2)
    {
        circle = max(circle, 1);
    }

    __device__ inline void pair(int pair, int &a, int &b) const
    {
        const int step = pair + odd;
        a = step == 0 ? circle : around(round + step);
        b = step == 0 ? round : around(round + circle - step);
    }

    __device__ inline int around(int place) const { return place < circle ? place : place - circle; }

    __device__ inline void advance() { round = round + 1 < circle ? round + 1 : 0; }
};

// The encounter of two stars with these masses, radial and transverse velocities.
__device__ inline void meet(double rate, double m1, double m2, double &vr1, double &vt1, double &vr2, double &vt2, Stream &stream)
{
    double cos, sin, cos_psi, sin_psi;
    stream.angle(cos, sin);
    double first[3] = {vt1, 0.0, vr1}, second[3] = {vt2 * cos, vt2 * sin, vr2};
    const double w[3] = {second[0] - first[0], second[1] - first[1], second[2] - first[2]};
    const double across2 = w[0] * w[0] + w[1] * w[1];
    const double w2 = across2 + w[2] * w[2];
    stream.angle(cos_psi, sin_psi);
    if (w2 != 0.0) {
        const double speed = sqrt(w2), mass = m1 + m2;
        double half = rate * mass * mass / (w2 * speed);
        if (half > LIMIT)
            half = RIGHT_ANGLE;
        const double cos_beta = 1.0 - 2.0 * half;
        const double sin_beta = 2.0 * sqrt(half * (1.0 - half));
        const double across = sqrt(across2);
        double a[3] = {speed, 0.0, 0.0}, b[3] = {0.0, speed, 0.0};
        if (across > 0.0) {
            a[0] = w[1] * speed / across;
            a[1] = -w[0] * speed / across;
            b[0] = -w[0] * w[2] / across;
            b[1] = -w[1] * w[2] / across;
            b[2] = across;
        }
        for (int c = 0; c < 3; c++) {
            const double turned = w[c] * cos_beta + sin_beta * (a[c] * cos_psi + b[c] * sin_psi);
            const double change = turned - w[c];
            first[c] -= m2 / mass * change;
            second[c] += m1 / mass * change;
        }
    }
    vr1 = first[2];
    vt1 = sqrt(first[0] * first[0] + first[1] * first[1]);
    vr2 = second[2];
    vt2 = sqrt(second[0] * second[0] + second[1] * second[1]);
}

// The encounters of the `count` stars of a bin, in rounds in which every star has another partner.
__device__ inline void deflect(int count, double rate, unsigned encounters, const double *m, double *vr, double *vt, Stream &stream)
{
    int order[BIN];
    double squares = 0.0, heaviest = 0.0, second = 0.0;
    for (int k = 0; k < count; k++) {
        order[k] = k;
        squares += vr[k] * vr[k] + vt[k] * vt[k];
        second = fmax(second, fmin(m[k], heaviest));
        heaviest = fmax(heaviest, m[k]);
    }
    const double speed = 4.0 * sqrt(squares / (3.0 * double(count) * PI));
    const Number number = {encounters, 2.0 * rate / (TYPICAL * speed * speed * speed)};
    const unsigned rounds = number.of_pair(heaviest + second);
    Matching matching(count);
    for (unsigned round = 1; round <= rounds; round++) {
        if (rounds > 1 && matching.round == 0)
            for (int last = count - 1; last > 0; last--) {
                const int with = int(stream.uniform() * double(last + 1));
                const int other = order[with];
                order[with] = order[last];
                order[last] = other;
            }
        for (int pair = 0; pair < count / 2; pair++) {
            int a = 2 * pair, b = 2 * pair + 1;
            if (rounds > 1)
                matching.pair(pair, a, b);
            a = order[a];
            b = order[b];
            const unsigned own = number.of_pair(m[a] + m[b]);
            if (round <= own)
                meet(rate / double(own), m[a], m[b], vr[a], vt[a], vr[b], vt[b], stream);
        }
        matching.advance();
    }
}
