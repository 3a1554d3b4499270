// Global memory and who used it.

#include "global.h"

#include <algorithm>
#include <cstdio>
#include <new>

namespace ptx {
namespace {

[[noreturn]] void wrong(const std::string &what, u64 at)
{
    char address[32];
    std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(at));
    throw Wrong(what + " at " + address + " of global memory");
}

std::string name_of(u32 block, u32 thread)
{
    std::string who = thread == several ? "several threads" : thread == atomically ? "an atomic operation" : "thread " + std::to_string(thread);
    return block == many_blocks ? "several blocks" : who + " of block " + std::to_string(block);
}

// Adds what `from` has of other blocks, or has of a later time: counts of fences only grow.
void learn(Knowledge &to, const Knowledge &from)
{
    for (const auto &[block, fences] : from) {
        Fences &mine = to[block];
        if (!mine || *fences > *mine)
            mine = fences;
    }
}

} // namespace

Region::Region(u64 begin, u64 bytes)
    : begin(begin), size(bytes), cells(static_cast<Cell *>(std::calloc(bytes / 4 + 1, sizeof(Cell))))
{
    if (!cells)
        throw std::bad_alloc();
}

Region &Launch::region(u64 at, unsigned bytes)
{
    if (!last || !last->holds(at, bytes)) {
        Region *found = memory.region(at, bytes);
        if (!found)
            wrong("access out of bounds", at);
        last = found;
    }
    return *last;
}

void GlobalMemory::begin(u32 number, unsigned threads)
{
    block = number;
    phase = 0;
    fences.assign(threads, 0);
    fences_at_barrier.assign(threads, 0);
    told.assign(threads, nullptr);
    known.assign(threads, nullptr);
}

void GlobalMemory::barrier()
{
    ++phase;
    fences_at_barrier = fences;
    if (std::all_of(told.begin(), told.end(), [&](const Known &k) { return k == told[0]; }))
        return;
    auto all = std::make_shared<Knowledge>();
    for (const Known &one : told)
        if (one)
            learn(*all, *one);
    told.assign(told.size(), all);
}

void GlobalMemory::fence(u32 thread)
{
    if (++fences[thread] == 0)
        throw Wrong("more fences in one launch than the interpreter counts");
    known[thread] = told[thread];
}

void GlobalMemory::check(u64 at, unsigned bytes) const
{
    if (at % bytes != 0)
        wrong("misaligned access", at);
}

template <class F> u8 *GlobalMemory::each(u64 at, unsigned bytes, F f)
{
    check(at, bytes);
    Cell *cell = launch.region(at, bytes).cell(at);
    for (u64 place = at; place < at + bytes; place += 4, ++cell) {
        if (cell->launch != launch.number) {
            cell->launch = launch.number;
            cell->writer_block = cell->reader_block = nobody;
        }
        f(*cell, place);
    }
    return reinterpret_cast<u8 *>(at);
}

// Whether what that thread of another block did before its fence number `count` + 1 is done, for this one.
bool GlobalMemory::knows(u32 thread, u32 other, u32 writer, u16 count) const
{
    const Known &mine = known[thread];
    if (!mine || other == many_blocks)
        return false;
    auto found = mine->find(other);
    if (found == mine->end())
        return false;
    const std::vector<u16> &theirs = *found->second;
    if (writer < theirs.size())
        return theirs[writer] > count;
    return std::all_of(theirs.begin(), theirs.end(), [=](u16 one) { return one > count; });
}

inline void GlobalMemory::against_writer(const Cell &cell, u64 at, u32 thread, bool alone, const char *what) const
{
    if (cell.writer_block == nobody)
        return;
    const Access &write = cell.write;
    const bool own = alone && write.thread == thread;
    const bool races = cell.writer_block == block ? !own && write.phase == phase
                                                  : !knows(thread, cell.writer_block, write.thread, write.fences);
    if (races)
        wrong(std::string("race: ") + what + " of what " + name_of(cell.writer_block, write.thread) + " wrote", at);
}

void GlobalMemory::against_reading(u32 reader_block, const Access &read, u64 at, u32 thread) const
{
    const bool races = reader_block == block ? read.thread != thread && read.phase == phase
                                             : !knows(thread, reader_block, read.thread, read.fences);
    if (races)
        wrong("race: a write of what " + name_of(reader_block, read.thread) + " read", at);
}

inline void GlobalMemory::against_reader(const Cell &cell, u64 at, u32 thread) const
{
    if (cell.reader_block == nobody)
        return;
    if (cell.reader_block != many_blocks || !launch.cooperative)
        return against_reading(cell.reader_block, cell.read, at, thread);
    for (const auto &[reader_block, read] : launch.readings.at(at))
        against_reading(reader_block, read, at, thread);
}

// Makes a read of the block its last one, or one of several threads.
void GlobalMemory::note(Access &last, const Access &read) const
{
    // Who read before the last barrier is in nobody's way any more.
    const bool others = last.thread != read.thread && last.phase == phase;
    last = read;
    if (others)
        last.thread = u16(several);
}

// The same where another block, or several, have read the word.
void GlobalMemory::note(Cell &cell, u64 at, const Access &read)
{
    if (launch.cooperative) {
        Readings &readings = launch.readings[at];
        if (cell.reader_block != many_blocks)
            readings = {{cell.reader_block, cell.read}};
        auto [mine, is_first] = readings.emplace(block, read);
        if (!is_first)
            note(mine->second, read);
    }
    cell.reader_block = many_blocks;
}

const u8 *GlobalMemory::read(u64 at, unsigned bytes, u32 thread, bool alone, bool coherent)
{
    const Access read = now(thread, alone ? thread : several);
    return each(at, bytes, [&](Cell &cell, u64 place) {
        if (cell.writer_block == nobody && cell.reader_block == many_blocks && !launch.cooperative)
            return;
        against_writer(cell, place, thread, alone, "a read");
        if (cell.writer_block != nobody && cell.writer_block != block && !coherent)
            wrong("a read through the multiprocessor's cache of what another block wrote", place);
        if (cell.reader_block == nobody) {
            cell.reader_block = block;
            cell.read = read;
        } else if (cell.reader_block == block) {
            note(cell.read, read);
        } else {
            note(cell, place, read);
        }
    });
}

u8 *GlobalMemory::write(u64 at, unsigned bytes, u32 thread)
{
    return each(at, bytes, [&](Cell &cell, u64 place) {
        against_writer(cell, place, thread, true, "a write");
        against_reader(cell, place, thread);
        cell.writer_block = block;
        cell.write = now(thread, thread);
        cell.reader_block = nobody;
    });
}

u8 *GlobalMemory::update(u64 at, unsigned bytes, u32 thread)
{
    u8 *place = each(at, bytes, [&](Cell &cell, u64 where) {
        if (cell.write.thread != atomically)
            against_writer(cell, where, thread, true, "an atomic operation");
        against_reader(cell, where, thread);
        // It does not make a thread's own write before it one that others may meet.
        if (cell.writer_block == block && cell.write.thread == thread && cell.write.phase == phase)
            return;
        cell.writer_block = block;
        cell.write = now(thread, atomically);
    });
    Knowledge &posted = launch.posted[at];
    auto mine = std::make_shared<Knowledge>();
    if (told[thread])
        *mine = *told[thread];
    learn(*mine, posted);
    if (known[thread])
        learn(posted, *known[thread]);
    auto fenced = std::make_shared<std::vector<u16>>(fences_at_barrier);
    (*fenced)[thread] = fences[thread];
    posted[block] = std::move(fenced);
    told[thread] = std::move(mine);
    return place;
}

} // namespace ptx
