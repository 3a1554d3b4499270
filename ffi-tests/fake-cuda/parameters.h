// The parameters of a kernel, as the PTX declares them.
#ifndef FAKE_CUDA_PARAMETERS_H
#define FAKE_CUDA_PARAMETERS_H

#include <string>
#include <vector>

// A parameter, by its place among all of them.
struct Parameter {
    std::string name;
    unsigned at, bytes;
};

// Those of `.entry NAME` in the text, behind which there are only they and the directives of the kernel. Empty also if there
// is no such entry.
std::vector<Parameter> parameters_of(const std::string &text, const std::string &name);

// Bytes of all of them, where they lie.
unsigned bytes_of(const std::vector<Parameter> &parameters);

#endif
