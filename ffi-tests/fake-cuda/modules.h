// Where the kernels of a module come from: from_ptx.cc or from_source.cc, whichever a driver is built with.
#ifndef FAKE_CUDA_MODULES_H
#define FAKE_CUDA_MODULES_H

#include "state.h"

// The kernel of that name; null (and a complaint) if there is none.
std::shared_ptr<const Kernel> make_kernel(const Device *device, const std::string &text, const std::string &name);

// The text of the same kernels in the folder that the settings name, if it has one; else the text.
std::string replaced(const std::string &text);

#endif
