// Which stars get a new position in a step: src/renewal.rs.

typedef unsigned long long Word;

struct Renewal {
    double part, heaviest;
    Word step;

    __device__ static inline Word mixed(Word x)
    {
        Word z = x * 0x9e3779b97f4a7c15ull;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        return z ^ (z >> 31);
    }

    __device__ inline bool has(Word id, double mass) const
    {
        const double of_mass = fmax(part, mass / heaviest);
        return of_mass >= 1.0 || double(mixed(mixed(id + 1) + step) >> 11) * 0x1p-53 < of_mass;
    }
};
