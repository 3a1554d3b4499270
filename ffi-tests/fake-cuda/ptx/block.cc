// Teams of a block, and the barrier where they meet.

#include "block.h"

#include <algorithm>

namespace ptx {
namespace {

// Threads that run in step: many make an instruction cheap, few keep their registers in the fast cache.
constexpr std::size_t team_threads = 64;
constexpr u32 warp = 32;

// What a thread gets by a shuffle, and whether the lane it asked for is one it may ask.
std::pair<u32, bool> shuffled(const std::vector<Offer> &offers, u32 thread)
{
    const Offer &mine = offers[thread];
    const u32 lane = thread % warp, first = thread - lane;
    auto wrong = [&](const std::string &what) {
        throw Wrong("thread " + std::to_string(thread) + ", line " + std::to_string(mine.step->line) + " of the PTX: " + what);
    };
    if (!(mine.members >> lane & 1))
        wrong("a shuffle among others");
    for (u32 other = 0; other < warp; ++other) {
        if (!(mine.members >> other & 1))
            continue;
        const bool exists = first + other < offers.size();
        if (!exists || offers[first + other].step != mine.step || offers[first + other].members != mine.members)
            wrong("lane " + std::to_string(other) + " is not at this shuffle");
    }
    // The segment of the warp in which lanes are looked for, as the PTX manual has it.
    const u32 by = mine.lane & 31, segments = mine.clamp >> 8 & 31, clamp = mine.clamp & 31;
    const int most = int((lane & segments) | (clamp & ~segments)), least = int(lane & segments);
    const char mode = mine.step->mode;
    const int from = mode == 'u'   ? int(lane) - int(by)
                     : mode == 'd' ? int(lane) + int(by)
                     : mode == 'b' ? int(lane ^ by)
                                   : least | int(by & ~segments);
    const bool inside = mode == 'u' ? from >= most : from <= most;
    if (inside && !(mine.members >> from & 1))
        wrong("a lane that is not in the shuffle");
    return {offers[inside ? first + u32(from) : thread].value, inside};
}

} // namespace

Block::Block(Grid &grid, const std::vector<u32> &threads)
    : grid(grid), shared(grid.program.shared_bytes), global(grid.launch)
{
    for (std::size_t begin = 0; begin < threads.size(); begin += team_threads) {
        auto end = threads.begin() + std::ptrdiff_t(std::min(begin + team_threads, threads.size()));
        std::vector<u32> own(threads.begin() + std::ptrdiff_t(begin), end);
        teams.push_back(std::make_unique<Team>(*this, std::move(own)));
    }
}

void Block::begin(u32 number)
{
    block = number;
    shared.begin();
    global.begin(number, unsigned(shim::volume(grid.threads)));
    running.clear();
    for (auto &team : teams) {
        team->begin();
        running.push_back(team.get());
    }
}

bool Block::run(unsigned long instructions, std::size_t choice)
{
    if (running.empty())
        return meet();
    Team **team = &running[choice % running.size()];
    if (!(*team)->run(instructions))
        running.erase(running.begin() + (team - running.data()));
    return true;
}

// All threads wait or have ended: whether some of them wait at shuffles, which now take place.
bool Block::shuffle()
{
    std::vector<Offer> offers(shim::volume(grid.threads));
    bool any = false;
    for (auto &team : teams)
        if (team->offer(offers)) {
            running.push_back(team.get());
            any = true;
        }
    if (!any)
        return false;
    std::vector<std::pair<u32, bool>> results(offers.size());
    for (u32 thread = 0; thread < offers.size(); ++thread)
        if (offers[thread].step)
            results[thread] = shuffled(offers, thread);
    for (Team *team : running)
        team->release(results);
    return true;
}

// All threads wait or have ended: whether they go on.
bool Block::meet()
{
    if (shuffle())
        return true;
    std::size_t all = shim::volume(grid.threads), waiting = 0, there = 0;
    const Step *first = nullptr;
    for (auto &team : teams) {
        waiting += team->waiting();
        first = first ? first : team->barrier();
    }
    if (waiting == 0)
        return false;
    bool vote = false;
    for (auto &team : teams) {
        there += team->waits_at(*first) ? team->waiting() : 0;
        vote = vote || (first->kind == Step::vote && team->votes());
    }
    if (there < all)
        throw Wrong(std::to_string(there) + " of " + std::to_string(all) + " threads wait at line " +
                    std::to_string(first->line) + " of the PTX, " + std::to_string(waiting - there) +
                    " at another barrier, the others ended");
    shared.next_phase();
    global.barrier();
    for (auto &team : teams) {
        team->release(vote);
        running.push_back(team.get());
    }
    return true;
}

} // namespace ptx
