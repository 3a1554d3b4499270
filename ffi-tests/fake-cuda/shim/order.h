// The order in which things run: the indices below a count, permuted.
#ifndef KIRIN_SHIM_ORDER_H
#define KIRIN_SHIM_ORDER_H

#include <algorithm>
#include <random>
#include <vector>

#include "launch.h"

namespace shim {

// One permutation after another; the same ones for the same seed.
class Permutations {
public:
    explicit Permutations(Order order) : kind(order.kind), generator(order.seed) {}

    // The index that runs at `position` of `count`, where that needs no table.
    template <class T> T plain(T position, T count) const
    {
        return kind == Order::reverse ? count - 1 - position : position;
    }

    bool plain() const { return kind != Order::shuffled; }

    template <class T> void shuffle(std::vector<T> &items)
    {
        if (kind == Order::shuffled)
            std::shuffle(items.begin(), items.end(), generator);
    }

private:
    Order::Kind kind;
    std::mt19937_64 generator;
};

inline Index unfold(std::size_t i, Index extent)
{
    if (i < extent.x) // mostly; divisions are slow
        return {unsigned(i), 0, 0};
    return {unsigned(i % extent.x), unsigned(i / extent.x % extent.y),
            unsigned(i / extent.x / extent.y)};
}

inline std::size_t volume(Index extent) { return std::size_t(extent.x) * extent.y * extent.z; }

} // namespace shim

#endif
