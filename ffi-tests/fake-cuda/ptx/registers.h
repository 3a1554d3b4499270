// Places for the registers of a kernel: those that are never needed at the same time share one.
#ifndef FAKE_CUDA_PTX_REGISTERS_H
#define FAKE_CUDA_PTX_REGISTERS_H

#include <vector>

#include "types.h"

namespace ptx {

// What a step does to registers, by their ids, and which steps may follow.
struct Flow {
    std::vector<int> reads, writes;
    std::vector<unsigned> next;
    bool conditional = false; // writes may not happen
};

struct Places {
    std::vector<u32> of; // unit of each register
    unsigned units = 0;
};

// `always` are registers whose numbers are there before the first step and stay.
Places allocate(const std::vector<Flow> &flow, const std::vector<bool> &wide, const std::vector<int> &always);

} // namespace ptx

#endif
