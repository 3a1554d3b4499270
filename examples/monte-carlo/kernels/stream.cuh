// The random numbers of a bin: those of src/random.rs.

struct Stream {
    unsigned z[4];

    // One of the four shift registers.
    __device__ static inline unsigned step(unsigned z, int first, int right, int left, unsigned mask)
    {
        return ((z & mask) << left) ^ (((z << first) ^ z) >> right);
    }

    __device__ inline unsigned next()
    {
        z[0] = step(z[0], 6, 13, 18, 0xfffffffeu);
        z[1] = step(z[1], 2, 27, 2, 0xfffffff8u);
        z[2] = step(z[2], 13, 21, 7, 0xfffffff0u);
        z[3] = step(z[3], 3, 12, 13, 0xffffff80u);
        return z[0] ^ z[1] ^ z[2] ^ z[3];
    }

    // Uniform between 0 and 1.
    __device__ inline double uniform()
    {
        return (double(next()) + 0.5) * 0x1p-32;
    }

    // Cosine and sine of a random angle.
    __device__ inline void angle(double &cos, double &sin)
    {
        double x, y, square;
        do {
            x = 2.0 * uniform() - 1.0;
            y = 2.0 * uniform() - 1.0;
            square = x * x + y * y;
        } while (!(square <= 1.0));
        cos = (x * x - y * y) / square;
        sin = 2.0 * x * y / square;
    }
};
