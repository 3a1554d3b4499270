// How a team goes through its instructions.

#include "team.h"

#include <algorithm>
#include <limits>

#include "block.h"
#include "denormals.h"

namespace ptx {
namespace {

constexpr u32 nowhere = std::numeric_limits<u32>::max();
constexpr u32 warp = 32;

// What %tid.x and its like are for a thread of a block.
u32 special(const std::string &name, shim::Index thread, shim::Index block, const Grid &grid)
{
    const std::size_t dot = name.rfind('.');
    const std::string what = name.substr(0, dot), axis = dot == std::string::npos ? "" : name.substr(dot + 1);
    const shim::Index *index = what == "%tid"      ? &thread
                               : what == "%ctaid"  ? &block
                               : what == "%ntid"   ? &grid.threads
                               : what == "%nctaid" ? &grid.blocks
                                                   : nullptr;
    if (!index || (axis != "x" && axis != "y" && axis != "z"))
        throw Wrong("the interpreter does not know " + name);
    return axis == "x" ? index->x : axis == "y" ? index->y : index->z;
}

} // namespace

template <class T> std::unique_ptr<T[], Team::Free> Team::aligned(std::size_t count)
{
    std::size_t bytes = (count * sizeof(T) + 63) / 64 * 64;
    void *memory = std::aligned_alloc(64, bytes);
    if (!memory)
        throw std::bad_alloc();
    std::memset(memory, 0xff, bytes);
    return std::unique_ptr<T[], Free>(static_cast<T *>(memory));
}

Team::Team(Block &block, std::vector<u32> threads)
    : block(block), program(block.grid.program), numbers(std::move(threads)),
      stride((numbers.size() * 4 + 63) / 64 * 64), owner(aligned<char>(std::max(program.units, 1u) * stride)),
      file(owner.get()), depots(program.local_bytes * numbers.size())
{
}

void Team::begin()
{
    const Grid &grid = block.grid;
    const shim::Index number = shim::unfold(block.number(), grid.blocks);
    for (const Preset &one : program.presets) {
        if (is_set && one.special.compare(0, 6, "%ctaid") != 0)
            continue; // as it was for the block before
        for (unsigned lane = 0; lane < width(); ++lane)
            if (one.wide)
                lanes<u64>(one.unit)[lane] = one.bits;
            else
                lanes<u32>(one.unit)[lane] =
                    one.special.empty() ? u32(one.bits)
                                        : special(one.special, shim::unfold(thread(lane), grid.threads), number, grid);
    }
    is_set = true;
    std::fill(depots.begin(), depots.end(), static_cast<unsigned char>(0xff));
    groups.clear();
    groups.push_back({0, false, width(), aligned<u32>(width())});
}

unsigned char *Team::local(unsigned lane) { return depots.data() + std::size_t(lane) * program.local_bytes; }

// Makes the group that is furthest behind the current one, and says where the next one is; false if no
// group can go on.
bool Team::choose(u32 &limit)
{
    constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    std::size_t best = none;
    limit = nowhere;
    for (std::size_t n = 0; n < groups.size(); ++n) {
        if (groups[n].waits)
            continue;
        for (std::size_t later = groups.size(); later-- > n + 1;)
            if (!groups[later].waits && groups[later].at == groups[n].at) {
                for (unsigned lane = 0; lane < width(); ++lane)
                    groups[n].mask[lane] |= groups[later].mask[lane];
                groups[n].count += groups[later].count;
                groups.erase(groups.begin() + std::ptrdiff_t(later));
            }
        if (best == none || groups[n].at < groups[best].at) {
            limit = best == none ? limit : std::min(limit, groups[best].at);
            best = n;
        } else {
            limit = std::min(limit, groups[n].at);
        }
    }
    current = best;
    return best != none;
}

// Number of warps that have threads in the group. In plain order the threads of a warp are neighbours.
unsigned Team::warps(const Group &group) const
{
    unsigned found = 0;
    u32 last = nowhere;
    for (unsigned lane = 0; lane < width(); ++lane) {
        if (!group.mask[lane] || thread(lane) / warp == last)
            continue;
        last = thread(lane) / warp;
        ++found;
    }
    return found;
}

bool Team::run(unsigned long instructions)
{
    DenormalMode mode;
    u32 limit;
    while (choose(limit)) {
        // Until another group is met or overtaken.
        for (bool stays = true; stays;) {
            if (instructions-- == 0)
                return true;
            Group &group = groups[current];
            const Step &step = program.steps[group.at];
            const std::size_t before = groups.size();
            if (Counts *counts = block.grid.counts) {
                counts->warps[group.at] += warps(group);
                counts->threads[group.at] += group.count;
            }
            if (step.kind == Step::plain && !step.guarded) {
                mode.set(step.denormals);
                (group.count == width() ? step.full : step.masked)(*this, step);
                ++group.at;
            } else {
                mode.set(step.denormals);
                execute(step);
            }
            stays = groups.size() == before && current < groups.size() && !groups[current].waits && groups[current].at < limit;
        }
    }
    return false;
}

// What is not a plain instruction for all threads of the group.
void Team::execute(const Step &step)
{
    Group &group = groups[current];
    switch (step.kind) {
    case Step::plain:
        guarded(step);
        break;
    case Step::branch:
        branch(step);
        break;
    case Step::barrier:
    case Step::vote:
    case Step::shuffle:
        group.waits = true;
        break;
    case Step::fence:
        for (unsigned lane = 0; lane < width(); ++lane)
            if (group.mask[lane])
                block.global.fence(thread(lane));
        ++group.at;
        break;
    case Step::end:
        if (step.guarded)
            branch(step); // away from all instructions
        else
            groups.erase(groups.begin() + std::ptrdiff_t(current));
        break;
    }
}

// Threads of the group whose predicate holds go to the target, the others on.
void Team::branch(const Step &step)
{
    Group &group = groups[current];
    unsigned taken = 0;
    const u32 *predicate = step.guarded ? lanes<u32>(step.guard) : nullptr;
    auto goes = [&](unsigned lane) { return group.mask[lane] && (!predicate || (predicate[lane] != 0) != step.negated); };
    for (unsigned lane = 0; lane < width(); ++lane)
        taken += goes(lane);
    const bool ends = step.kind == Step::end;
    if (taken == group.count) {
        if (ends)
            groups.erase(groups.begin() + std::ptrdiff_t(current));
        else
            group.at = step.target;
    } else {
        auto away = aligned<u32>(width());
        const u32 target = step.target;
        ++group.at;
        if (taken > 0) {
            for (unsigned lane = 0; lane < width(); ++lane) {
                away[lane] = goes(lane) ? ~0u : 0;
                group.mask[lane] &= ~away[lane];
            }
            group.count -= taken;
            if (!ends)
                groups.push_back({target, false, taken, std::move(away)});
        }
    }
}

// An instruction for the threads whose predicate holds.
void Team::guarded(const Step &step)
{
    const u32 *predicate = lanes<u32>(step.guard);
    auto kept = aligned<u32>(width());
    Group &group = groups[current];
    const unsigned count = group.count;
    std::copy_n(group.mask.get(), width(), kept.get());
    group.count = 0;
    for (unsigned lane = 0; lane < width(); ++lane) {
        group.mask[lane] = kept[lane] && (predicate[lane] != 0) != step.negated ? ~0u : 0;
        group.count += group.mask[lane] != 0;
    }
    if (group.count > 0)
        (group.count == width() ? step.full : step.masked)(*this, step);
    group.mask = std::move(kept);
    group.count = count;
    ++group.at;
}

unsigned Team::waiting() const
{
    unsigned count = 0;
    for (const Group &group : groups)
        count += group.waits ? group.count : 0;
    return count;
}

const Step *Team::barrier() const
{
    for (const Group &group : groups)
        if (group.waits)
            return &program.steps[group.at];
    return nullptr;
}

bool Team::waits_at(const Step &step) const
{
    return std::all_of(groups.begin(), groups.end(),
                       [&](const Group &group) { return group.waits && &program.steps[group.at] == &step; });
}

bool Team::votes() const
{
    for (const Group &group : groups) {
        const Step &step = program.steps[group.at];
        const u32 *vote = reinterpret_cast<const u32 *>(file + step.from[0] * stride);
        for (unsigned lane = 0; lane < width(); ++lane)
            if (group.mask[lane] && vote[lane])
                return true;
    }
    return false;
}

bool Team::offer(std::vector<Offer> &offers) const
{
    bool any = false;
    for (const Group &group : groups) {
        const Step &step = program.steps[group.at];
        if (!group.waits || step.kind != Step::shuffle)
            continue;
        auto lane_of = [&](u32 unit, unsigned lane) { return reinterpret_cast<const u32 *>(file + unit * stride)[lane]; };
        for (unsigned lane = 0; lane < width(); ++lane)
            if (group.mask[lane])
                offers[thread(lane)] = {&step, lane_of(step.from[0], lane), lane_of(step.from[1], lane),
                                        lane_of(step.from[2], lane), lane_of(step.vector[0], lane)};
        any = true;
    }
    return any;
}

void Team::release(const std::vector<std::pair<u32, bool>> &results)
{
    for (Group &group : groups) {
        const Step &step = program.steps[group.at];
        if (!group.waits || step.kind != Step::shuffle)
            continue;
        for (unsigned lane = 0; lane < width(); ++lane) {
            if (!group.mask[lane])
                continue;
            lanes<u32>(step.to)[lane] = results[thread(lane)].first;
            if (step.count == 2)
                lanes<u32>(step.vector[1])[lane] = results[thread(lane)].second;
        }
        group.waits = false;
        ++group.at;
    }
}

void Team::release(bool vote)
{
    for (Group &group : groups) {
        const Step &step = program.steps[group.at];
        if (step.kind == Step::vote)
            for (unsigned lane = 0; lane < width(); ++lane)
                if (group.mask[lane])
                    lanes<u32>(step.to)[lane] = vote;
        group.waits = false;
        ++group.at;
    }
}

} // namespace ptx
