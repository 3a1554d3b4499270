// Teams of a block, and the barrier where they meet.

#include "block.h"

#include <algorithm>

namespace ptx {
namespace {

// Threads that run in step: many make an instruction cheap, few keep their registers in the fast cache.
constexpr std::size_t team_threads = 64;

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

// All threads wait or have ended: whether they go on.
bool Block::meet()
{
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
