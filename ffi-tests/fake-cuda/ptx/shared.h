// Shared memory of a thread block: every access is checked for its place, for data that nobody wrote,
// and for races between two barriers.
#ifndef FAKE_CUDA_PTX_SHARED_H
#define FAKE_CUDA_PTX_SHARED_H

#include <vector>

#include "types.h"

namespace ptx {

// Who stands for a thread where there were several, or an atomic operation.
constexpr u32 several = 0xfffe, atomically = 0xfffd;

class SharedMemory {
public:
    explicit SharedMemory(unsigned bytes);

    // Another block begins: what is there is nobody's.
    void begin();
    // All threads have met at a barrier.
    void next_phase() { ++phase; }

    // The place of `bytes` bytes that a thread, or `several` of them, reads. Throws Wrong.
    const u8 *read(u64 at, unsigned bytes, u32 thread);
    u8 *write(u64 at, unsigned bytes, u32 thread);
    u8 *update(u64 at, unsigned bytes, u32 thread);

private:
    // Phase and thread of the last access, in one number.
    typedef u64 Access;
    Access now(u32 thread) const { return phase << 16 | thread; }
    bool is_now(Access access) const { return access >> 16 == phase; }
    void check(u64 at, unsigned bytes) const;
    template <class F> void each(u64 at, unsigned bytes, F f);
    void one_read(u64 at, Access &written, Access &read, u32 thread) const;
    void one_write(u64 at, Access &written, Access &read, u32 thread, bool atomic) const;

    u64 phase = 1;
    std::vector<u8> content, present; // a byte of `present` for each that was written
    // By words; of a word that is also used in parts the bytes have their own.
    std::vector<Access> written, readings, bytes_written, bytes_read;
    std::vector<bool> is_split;
};

} // namespace ptx

#endif
