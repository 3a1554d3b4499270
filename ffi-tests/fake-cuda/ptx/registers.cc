// Lifetimes by data flow, places by a linear scan over them.

#include "registers.h"

#include <algorithm>

namespace ptx {
namespace {

// Bits, one a register.
class Bits {
public:
    explicit Bits(std::size_t count) : words((count + 63) / 64) {}
    void set(int n) { words[std::size_t(n) / 64] |= u64(1) << n % 64; }
    void clear(int n) { words[std::size_t(n) / 64] &= ~(u64(1) << n % 64); }
    // Adds what `others` has; whether anything was new.
    bool add(const Bits &others)
    {
        u64 fresh = 0;
        for (std::size_t n = 0; n < words.size(); ++n) {
            fresh |= others.words[n] & ~words[n];
            words[n] |= others.words[n];
        }
        return fresh != 0;
    }
    template <class F> void each(F f) const
    {
        for (std::size_t n = 0; n < words.size(); ++n)
            for (u64 rest = words[n]; rest; rest &= rest - 1)
                f(int(64 * n) + __builtin_ctzll(rest));
    }

private:
    std::vector<u64> words;
};

// Steps that run one after the other.
struct Run {
    unsigned begin, end;
    Bits in;
};

std::vector<Run> runs_of(const std::vector<Flow> &flow, std::size_t registers)
{
    std::vector<bool> begins(flow.size() + 1);
    begins[0] = true;
    for (unsigned n = 0; n < flow.size(); ++n)
        if (flow[n].next.size() != 1 || flow[n].next[0] != n + 1) {
            begins[n + 1] = true;
            for (unsigned to : flow[n].next)
                begins[to] = true;
        }
    std::vector<Run> runs;
    for (unsigned n = 0; n < flow.size(); ++n)
        if (begins[n]) {
            if (!runs.empty())
                runs.back().end = n;
            runs.push_back({n, unsigned(flow.size()), Bits(registers)});
        }
    return runs;
}

struct Life {
    int id;
    unsigned begin, end;
};

// From the first step to the last at which each register may hold what is still needed.
std::vector<Life> lives_of(const std::vector<Flow> &flow, std::size_t registers)
{
    std::vector<Run> runs = runs_of(flow, registers);
    std::vector<std::size_t> run_at(flow.size());
    for (std::size_t r = 0; r < runs.size(); ++r)
        run_at[runs[r].begin] = r;
    auto after = [&](const Run &run) {
        Bits needed(registers);
        for (unsigned to : flow[run.end - 1].next)
            if (to < flow.size())
                needed.add(runs[run_at[to]].in);
        return needed;
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t r = runs.size(); r-- > 0;) {
            Bits needed = after(runs[r]);
            for (unsigned n = runs[r].end; n-- > runs[r].begin;) {
                if (!flow[n].conditional)
                    for (int id : flow[n].writes)
                        needed.clear(id);
                for (int id : flow[n].reads)
                    needed.set(id);
            }
            changed |= runs[r].in.add(needed);
        }
    }
    std::vector<Life> lives;
    const unsigned never = unsigned(flow.size());
    for (std::size_t id = 0; id < registers; ++id)
        lives.push_back({int(id), never, 0});
    auto extend = [&](int id, unsigned to) {
        lives[std::size_t(id)].begin = std::min(lives[std::size_t(id)].begin, to);
        lives[std::size_t(id)].end = std::max(lives[std::size_t(id)].end, to);
    };
    for (const Run &run : runs) {
        run.in.each([&](int id) { extend(id, run.begin); });
        after(run).each([&](int id) { extend(id, run.end - 1); });
        for (unsigned n = run.begin; n < run.end; ++n) {
            for (int id : flow[n].reads)
                extend(id, n);
            for (int id : flow[n].writes)
                extend(id, n);
        }
    }
    return lives;
}

} // namespace

Places allocate(const std::vector<Flow> &flow, const std::vector<bool> &wide, const std::vector<int> &always)
{
    std::vector<Life> lives = lives_of(flow, wide.size());
    for (int id : always)
        lives[std::size_t(id)] = {id, 0, unsigned(flow.size())};
    std::sort(lives.begin(), lives.end(), [](const Life &a, const Life &b) { return a.begin < b.begin; });
    Places places;
    places.of.resize(std::max<std::size_t>(wide.size(), 1));
    std::vector<u32> unused[2]; // of 32 bits, of 64
    std::vector<Life> present;
    for (const Life &life : lives) {
        if (life.begin > life.end)
            continue; // never used
        // What ends where this begins is still read there, and a result may be written before: no sharing.
        auto over = [&](const Life &other) {
            if (other.end >= life.begin)
                return false;
            unused[wide[std::size_t(other.id)]].push_back(places.of[std::size_t(other.id)]);
            return true;
        };
        present.erase(std::remove_if(present.begin(), present.end(), over), present.end());
        std::vector<u32> &free = unused[wide[std::size_t(life.id)]];
        u32 &place = places.of[std::size_t(life.id)];
        if (free.empty()) {
            place = places.units;
            places.units += wide[std::size_t(life.id)] ? 2 : 1;
        } else {
            place = free.back();
            free.pop_back();
        }
        present.push_back(life);
    }
    return places;
}

} // namespace ptx
