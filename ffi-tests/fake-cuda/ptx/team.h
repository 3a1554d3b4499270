// Threads of a block that run in step, each instruction for all of them at once.
//
// Where they part at a branch the group that is behind goes on, until it meets the others again.
#ifndef FAKE_CUDA_PTX_TEAM_H
#define FAKE_CUDA_PTX_TEAM_H

#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "program.h"

namespace ptx {

class Block;

// What a thread brings to a shuffle.
struct Offer {
    const Step *step = nullptr; // at which it waits; null if it does not
    u32 value = 0, lane = 0, clamp = 0, members = 0;
};

class Team {
public:
    // The threads of the block whose numbers are given.
    Team(Block &block, std::vector<u32> threads);

    // The block that it belongs to begins.
    void begin();

    // Runs up to so many instructions. Whether it could go on: false if all threads ended or wait at barriers.
    bool run(unsigned long instructions);

    // Threads that wait at a barrier or shuffle, and at which instruction the first of them does.
    unsigned waiting() const;
    const Step *barrier() const;
    // Whether all threads that wait do so at that instruction.
    bool waits_at(const Step &step) const;
    // Whether the predicate that a vote at the barrier is about holds in any thread.
    bool votes() const;
    // Lets the threads that wait at barriers go on, with the result of the vote.
    void release(bool vote);

    // What the threads that wait at shuffles bring, by their numbers. Whether there are any.
    bool offer(std::vector<Offer> &offers) const;
    // Lets them go on, with what each gets and whether it comes from another lane.
    void release(const std::vector<std::pair<u32, bool>> &results);

    // For the operations:
    template <class T> T *lanes(u32 unit)
    {
        return static_cast<T *>(__builtin_assume_aligned(file + std::size_t(unit) * stride, 64));
    }
    unsigned width() const { return unsigned(numbers.size()); }
    // A word a lane, not 0 where an instruction is carried out; for `Operation::masked`.
    const u32 *mask() const { return groups[current].mask.get(); }
    bool is_active(unsigned lane) const { return groups[current].count == width() || mask()[lane]; }
    u32 thread(unsigned lane) const { return numbers[lane]; }
    unsigned char *local(unsigned lane);
    Block &block;

private:
    struct Free {
        void operator()(void *p) const { std::free(p); }
    };
    // Threads at one instruction.
    struct Group {
        u32 at;
        bool waits;
        unsigned count;
        std::unique_ptr<u32[], Free> mask;
    };

    const Program &program;
    std::vector<u32> numbers;
    std::size_t stride; // bytes of a unit
    std::unique_ptr<char[], Free> owner;
    char *file;
    std::vector<unsigned char> depots;
    std::vector<Group> groups;
    std::size_t current = 0;
    bool is_set = false; // the registers that are the same for all blocks

    template <class T> static std::unique_ptr<T[], Free> aligned(std::size_t count);
    bool choose(u32 &limit);
    unsigned warps(const Group &group) const;
    void branch(const Step &step);
    void guarded(const Step &step);
    void execute(const Step &step);
};

} // namespace ptx

#endif
