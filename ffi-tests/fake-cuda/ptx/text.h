// The text of a kernel, taken apart: registers and variables, labels, instructions.
#ifndef FAKE_CUDA_PTX_TEXT_H
#define FAKE_CUDA_PTX_TEXT_H

#include <map>
#include <string>
#include <vector>

#include "types.h"

namespace ptx {

struct Operand {
    enum Kind { reg, number, special, symbol, address, list } kind = number;
    int id = -1;               // of a register, or of the one that an address begins with
    u64 bits = 0;              // of a number; of an address: what is added
    char format = 'i';         // of a number: i, or f and d for the bits of a float or double
    std::string name;          // of a special register or symbol, or of the symbol of an address
    std::vector<Operand> parts; // of a list
};

struct Instruction {
    unsigned line; // of the module
    int guard = -1; // register of the predicate
    bool negated = false;
    std::string opcode;
    std::vector<Operand> operands;
};

// A variable of shared or local memory, or a parameter, by its place there.
struct Variable {
    unsigned at, bytes;
};

struct Entry {
    std::string name;
    unsigned parameter_bytes = 0, threads = 1024;
    unsigned shared_bytes = 0, local_bytes = 0;
    std::vector<std::string> registers; // type of each
    std::map<std::string, Variable> variables;
    std::map<std::string, unsigned> labels; // number of the instruction behind it
    std::vector<Instruction> instructions;
};

// Whether the text has the kernel, with what it does.
bool defines(const std::string &module, const std::string &name);

// The kernel of that name. Throws Wrong.
Entry parse(const std::string &module, const std::string &name);

} // namespace ptx

#endif
