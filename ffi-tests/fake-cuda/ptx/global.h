// Global memory: every access is checked for its place, and for races within a block and between blocks.
//
// Blocks of one launch may learn of each other's writes in one way only, which is that of the PTX memory
// model in the form that kirin uses: the writer fences, its block meets at a barrier, a thread counts by an
// atomic operation on a place where a thread of the reader's block counts later; that block meets at a
// barrier, the reader fences, and then reads past the caches of its multiprocessor. A write after reads of other blocks needs
// the same, with the parts of reader and writer exchanged. If several blocks have read a word, only a cooperative launch keeps
// them apart: in other launches no block can wait for all others.
#ifndef FAKE_CUDA_PTX_GLOBAL_H
#define FAKE_CUDA_PTX_GLOBAL_H

#include <cstdlib>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "shared.h"
#include "types.h"

namespace ptx {

constexpr u32 nobody = 0xffffffff, many_blocks = 0xfffffffe;

// The last access of a kind: its thread, barriers of the block before, and fences of the thread before.
struct Access {
    u16 thread, phase, fences;
};

// The last accesses to a word of global memory, of the launch whose number it has.
struct Cell {
    u32 launch;
    u32 writer_block, reader_block;
    Access write, read;
};

// A piece of memory that kernels may use, with what is known of its words.
class Region {
public:
    Region(u64 begin, u64 bytes);
    bool holds(u64 at, unsigned bytes) const { return at - begin < size && bytes <= size - (at - begin); }
    Cell *cell(u64 at) { return cells.get() + (at - begin) / 4; }

private:
    struct Free {
        void operator()(void *p) const { std::free(p); }
    };
    u64 begin, size;
    std::unique_ptr<Cell[], Free> cells;
};

// What the kernels of a device may use: the driver tells.
class Memory {
public:
    virtual ~Memory() = default;
    // The region that holds the bytes; null if there is none.
    virtual Region *region(u64 at, unsigned bytes) = 0;
};

// Fences of each thread of a block, as others know of them: what came before is theirs to see.
typedef std::shared_ptr<const std::vector<u16>> Fences;
// By block.
typedef std::map<u32, Fences> Knowledge;

// The last read of a word by each block.
typedef std::map<u32, Access> Readings;

// One launch: what its blocks share.
class Launch {
public:
    Launch(Memory &memory, u32 number, bool cooperative) : number(number), cooperative(cooperative), memory(memory) {}
    Region &region(u64 at, unsigned bytes);
    const u32 number;
    const bool cooperative;
    std::unordered_map<u64, Knowledge> posted; // by the address of an atomic operation
    std::unordered_map<u64, Readings> readings; // by address, of words that several blocks of a cooperative launch read

private:
    Memory &memory;
    Region *last = nullptr;
};

// The view that a thread block has.
class GlobalMemory {
public:
    explicit GlobalMemory(Launch &launch) : launch(launch) {}

    void begin(u32 block, unsigned threads);
    void barrier();
    void fence(u32 thread);

    // The place of `bytes` bytes that a thread reads, alone or with others of its team. `coherent`: past the
    // caches of the multiprocessor. Throws Wrong.
    const u8 *read(u64 at, unsigned bytes, u32 thread, bool alone, bool coherent);
    u8 *write(u64 at, unsigned bytes, u32 thread);
    u8 *update(u64 at, unsigned bytes, u32 thread);

private:
    void check(u64 at, unsigned bytes) const;
    template <class F> u8 *each(u64 at, unsigned bytes, F f);
    bool knows(u32 thread, u32 block, u32 writer, u16 fences) const;
    void against_writer(const Cell &cell, u64 at, u32 thread, bool alone, const char *what) const;
    void against_reader(const Cell &cell, u64 at, u32 thread) const;
    void against_reading(u32 reader_block, const Access &read, u64 at, u32 thread) const;
    // An access of a thread, which counts as one of `who`.
    Access now(u32 thread, u32 who) const { return {u16(who), phase, fences[thread]}; }
    void note(Access &last, const Access &read) const;
    void note(Cell &cell, u64 at, const Access &read);

    Launch &launch;
    u32 block = 0;
    u16 phase = 0;
    std::vector<u16> fences, fences_at_barrier;
    // What a thread was told, and what it may rely on since its last fence.
    typedef std::shared_ptr<const Knowledge> Known;
    std::vector<Known> told, known;
};

} // namespace ptx

#endif
