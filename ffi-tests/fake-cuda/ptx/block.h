// A thread block at work: its teams, its memory, its barrier.
#ifndef FAKE_CUDA_PTX_BLOCK_H
#define FAKE_CUDA_PTX_BLOCK_H

#include <string>
#include <vector>

#include "global.h"
#include "order.h"
#include "program.h"
#include "run.h"
#include "shared.h"
#include "team.h"

namespace ptx {

// What all blocks of a launch have in common.
struct Grid {
    const Program &program;
    const u8 *arguments;
    shim::Index blocks, threads;
    Launch launch;
    Counts *counts = nullptr; // null if nobody counts
};

class Block {
public:
    // The threads' numbers, in the order in which they have their turns.
    Block(Grid &grid, const std::vector<u32> &threads);

    // Another block of the grid begins here.
    void begin(u32 number);
    u32 number() const { return block; }

    // Lets some threads go on for so many instructions; whether the block has not ended. Throws Wrong.
    bool run(unsigned long instructions, std::size_t choice);

    Grid &grid;
    SharedMemory shared;
    GlobalMemory global;

private:
    u32 block = 0;
    std::vector<std::unique_ptr<Team>> teams;
    std::vector<Team *> running;

    bool meet();
    bool shuffle();
};

} // namespace ptx

#endif
