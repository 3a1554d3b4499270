// Whether the processor flushes denormal numbers: instructions with `.ftz` want it, the others do not.
#ifndef FAKE_CUDA_PTX_DENORMALS_H
#define FAKE_CUDA_PTX_DENORMALS_H

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "program.h"

namespace ptx {

// The mode of the processor while this lives; it ends as it began. Inputs and results are flushed alike.
class DenormalMode {
public:
    DenormalMode() : before(get()) { set(Denormals::kept); }
    DenormalMode(const DenormalMode &) = delete;
    ~DenormalMode() { put(before); }

    void set(Denormals wanted)
    {
        if (wanted == now || wanted == Denormals::any)
            return;
        now = wanted;
        put(wanted == Denormals::flushed ? before | flush : before & ~flush);
    }

private:
#if defined(__x86_64__)
    typedef unsigned Word;
    static constexpr Word flush = 0x8040; // FTZ, DAZ
    static Word get() { return _mm_getcsr(); }
    static void put(Word word) { asm volatile("ldmxcsr %0" : : "m"(word) : "memory"); }
#elif defined(__aarch64__)
    typedef unsigned long Word;
    static constexpr Word flush = 1ul << 24; // FZ
    static Word get()
    {
        Word word;
        asm volatile("mrs %0, fpcr" : "=r"(word));
        return word;
    }
    static void put(Word word) { asm volatile("msr fpcr, %0" : : "r"(word) : "memory"); }
#else
#error "the interpreter of PTX knows how to flush denormal numbers on x86-64 and aarch64 only"
#endif

    Word before;
    Denormals now = Denormals::any;
};

} // namespace ptx

#endif
