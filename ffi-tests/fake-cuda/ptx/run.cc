// The order in which blocks and threads run.

#include "run.h"

#include <algorithm>
#include <limits>
#include <random>

#include "block.h"

namespace ptx {
namespace {

// In shuffled order: blocks that run at a time, and the most instructions of a turn.
constexpr std::size_t most_at_a_time = 6;
constexpr unsigned long longest_turn = 400;

std::vector<u32> numbers(std::size_t count, shim::Permutations &permutations)
{
    std::vector<u32> made(count);
    for (std::size_t n = 0; n < count; ++n)
        made[n] = u32(permutations.plain(n, count));
    permutations.shuffle(made);
    return made;
}

void in_plain_order(Grid &grid, const std::vector<u32> &order, const std::vector<u32> &threads, u32 &current)
{
    Block block(grid, threads);
    for (u32 number : order) {
        block.begin(current = number);
        while (block.run(std::numeric_limits<unsigned long>::max(), 0)) {
        }
    }
}

void in_turns(Grid &grid, const std::vector<u32> &order, shim::Permutations &permutations, u64 seed,
              u32 &current)
{
    const std::size_t at_a_time = grid.launch.cooperative ? order.size() : most_at_a_time;
    std::mt19937_64 random(seed);
    std::vector<std::unique_ptr<Block>> running;
    auto next = order.begin();
    while (next != order.end() && running.size() < at_a_time) {
        running.push_back(std::make_unique<Block>(grid, numbers(shim::volume(grid.threads), permutations)));
        running.back()->begin(*next++);
    }
    // In plain order each block has its turn in every round, and each of its teams in turn.
    auto remains = [&](std::unique_ptr<Block> &block, unsigned long instructions, std::size_t choice) {
        current = block->number();
        if (block->run(instructions, choice))
            return true;
        if (next == order.end())
            return false;
        block->begin(*next++);
        return true;
    };
    if (permutations.plain()) {
        for (std::size_t round = 0; !running.empty(); ++round)
            running.erase(std::remove_if(running.begin(), running.end(),
                                         [&](auto &block) { return !remains(block, longest_turn, round); }),
                          running.end());
        return;
    }
    while (!running.empty()) {
        std::unique_ptr<Block> &block = running[random() % running.size()];
        const unsigned long instructions = 1 + random() % longest_turn;
        if (!remains(block, instructions, random()))
            running.erase(running.begin() + (&block - running.data()));
    }
}

} // namespace

std::string run(const Program &program, const void *arguments, shim::Index blocks, shim::Index threads, bool cooperative,
                shim::Order order, Memory &memory, Counts *counts)
{
    static u32 launches = 0;
    Grid grid{program, static_cast<const u8 *>(arguments), blocks, threads, Launch(memory, ++launches, cooperative), counts};
    shim::Permutations permutations(order);
    u32 current = 0;
    try {
        const std::vector<u32> sequence = numbers(shim::volume(blocks), permutations);
        if (cooperative || order.kind == shim::Order::shuffled)
            in_turns(grid, sequence, permutations, order.seed, current);
        else
            in_plain_order(grid, sequence, numbers(shim::volume(threads), permutations), current);
    } catch (const Wrong &why) {
        const shim::Index at = shim::unfold(current, blocks);
        return program.name + ", block " + std::to_string(at.x) + " " + std::to_string(at.y) + " " +
               std::to_string(at.z) + ": " + why.what();
    }
    return "";
}

} // namespace ptx
