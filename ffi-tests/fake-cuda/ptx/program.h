// A kernel ready to run: instructions with the places of their registers.
//
// A register is a row of lanes, one a thread of a team. Rows are counted in units of 32 bits a lane; a
// 64-bit register has two of them.
#ifndef FAKE_CUDA_PTX_PROGRAM_H
#define FAKE_CUDA_PTX_PROGRAM_H

#include <memory>
#include <string>
#include <vector>

#include "types.h"

namespace ptx {

class Team;
struct Step;

// Carries out an instruction for the lanes of a team: for all of them, or for those of its mask.
typedef void (*Execute)(Team &, const Step &);

// How the processor must treat denormal numbers meanwhile.
enum class Denormals : u8 { any, kept, flushed };

// What an opcode does.
struct Operation {
    Execute full = nullptr, masked = nullptr;
    Denormals denormals = Denormals::any;
    // Types of the registers, the result first: "f32 f32 f32". A word "ld.shared.v4.f32" or the like stands alone.
    std::string shape;
};

// The operation of an opcode that only computes; null if there is none.
const Operation *arithmetic(const std::string &opcode);
// The same for loads, stores and atomic operations.
const Operation *memory_access(const std::string &opcode);

struct Step {
    enum Kind : u8 { plain, branch, barrier, vote, shuffle, fence, end } kind = plain;
    Denormals denormals = Denormals::any;
    bool negated = false;
    u8 count = 1;      // registers of a vector; of a shuffle: results
    Execute full = nullptr, masked = nullptr;
    u32 to = 0, from[3] = {}; // units; `from[0]` is the base of an address
    u32 vector[4] = {};       // units of what is loaded or stored; of a shuffle: its members, and its predicate
    char mode = 0;            // of a shuffle: its first letter
    u32 guard = 0;            // unit of the predicate, if `guarded`
    bool guarded = false;
    u32 target = 0;    // of a branch
    u64 offset = 0;    // of an address
    unsigned line = 0; // of the module
};

// A register that holds one number in every thread, or what a thread's number decides.
struct Preset {
    u32 unit;
    bool wide;
    u64 bits;
    std::string special = ""; // %tid.x and its like, or empty
};

struct Program {
    std::string name;
    unsigned parameter_bytes = 0, threads = 0, shared_bytes = 0, local_bytes = 0;
    unsigned units = 0; // of the register file
    std::vector<Step> steps;
    std::vector<std::string> opcodes; // of each step; empty where it is a further step of an instruction
    std::vector<Preset> presets;
};

// The kernel of that name. Throws Wrong, if only for an instruction that this interpreter does not know.
std::shared_ptr<const Program> compile(const std::string &module, const std::string &name);

} // namespace ptx

#endif
