// Shared memory and who used it.

#include "shared.h"

#include <algorithm>

namespace ptx {
namespace {

[[noreturn]] void wrong(const char *what, u64 at)
{
    throw Wrong(std::string(what) + " at byte " + std::to_string(at) + " of shared memory");
}

} // namespace

SharedMemory::SharedMemory(unsigned bytes)
    : content((bytes + 15) / 16 * 16 + 16), present(content.size()), written(content.size() / 4),
      readings(written.size()), bytes_written(content.size()), bytes_read(content.size()),
      is_split(written.size())
{
    content.resize(bytes);
}

void SharedMemory::begin()
{
    next_phase();
    std::fill(content.begin(), content.end(), u8(0xff));
    std::fill(present.begin(), present.end(), u8(0));
}

void SharedMemory::check(u64 at, unsigned bytes) const
{
    if (at % bytes != 0)
        wrong("misaligned access", at);
    if (at > content.size() || bytes > content.size() - at)
        wrong("access out of bounds", at);
}

template <class F> void SharedMemory::each(u64 at, unsigned bytes, F f)
{
    for (u64 word = at / 4; word < (at + bytes + 3) / 4; ++word) {
        if (bytes < 4 && !is_split[word]) {
            is_split[word] = true;
            std::fill_n(bytes_written.begin() + std::ptrdiff_t(4 * word), 4, written[word]);
            std::fill_n(bytes_read.begin() + std::ptrdiff_t(4 * word), 4, readings[word]);
        }
        if (!is_split[word]) {
            f(4 * word, written[word], readings[word]);
            continue;
        }
        for (u64 byte = std::max(at, 4 * word); byte < std::min(at + bytes, 4 * word + 4); ++byte)
            f(byte, bytes_written[byte], bytes_read[byte]);
    }
}

inline void SharedMemory::one_read(u64 at, Access &written, Access &read, u32 thread) const
{
    if (is_now(written) && written != now(thread))
        wrong("race: a read beside another thread's write", at);
    read = is_now(read) && read != now(thread) ? now(several) : now(thread);
}

inline void SharedMemory::one_write(u64 at, Access &written, Access &read, u32 thread, bool atomic) const
{
    if (is_now(written) && written != now(thread) && !(atomic && written == now(atomically)))
        wrong("race: a write beside another thread's", at);
    if (is_now(read) && read != now(thread))
        wrong("race: a write beside another thread's read", at);
    // An atomic operation does not make a thread's own write before it one that others may meet.
    if (!(atomic && written == now(thread)))
        written = now(atomic ? atomically : thread);
}

const u8 *SharedMemory::read(u64 at, unsigned bytes, u32 thread)
{
    check(at, bytes);
    for (unsigned n = 0; n < bytes; ++n)
        if (!present[at + n])
            wrong("a read of what no thread of the block wrote", at + n);
    each(at, bytes, [&](u64 place, Access &w, Access &r) { one_read(place, w, r, thread); });
    return content.data() + at;
}

u8 *SharedMemory::write(u64 at, unsigned bytes, u32 thread)
{
    check(at, bytes);
    std::fill_n(present.begin() + std::ptrdiff_t(at), bytes, u8(1));
    each(at, bytes, [&](u64 place, Access &w, Access &r) { one_write(place, w, r, thread, false); });
    return content.data() + at;
}

u8 *SharedMemory::update(u64 at, unsigned bytes, u32 thread)
{
    check(at, bytes);
    for (unsigned n = 0; n < bytes; ++n)
        if (!present[at + n])
            wrong("an atomic operation on what no thread of the block wrote", at + n);
    each(at, bytes, [&](u64 place, Access &w, Access &r) { one_write(place, w, r, thread, true); });
    return content.data() + at;
}

} // namespace ptx
