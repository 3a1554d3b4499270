// The part of the CUDA driver's interface that the fake one has: types and codes.
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <cstddef>
#include <cstdint>

typedef int CUresult;
typedef int CUdevice;
typedef std::uintptr_t CUdeviceptr;
typedef struct Device *CUcontext;
typedef struct Stream *CUstream;
typedef struct Event *CUevent;
typedef struct Module *CUmodule;
typedef struct Function *CUfunction;

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    NO_BINARY_FOR_GPU = 209,
    INVALID_PTX = 218,
    UNSUPPORTED_PTX_VERSION = 222,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    LAUNCH_OUT_OF_RESOURCES = 701,
    PEER_ACCESS_NOT_ENABLED = 705,
    CONTEXT_IS_DESTROYED = 709,
    LAUNCH_FAILED = 719,
    COOPERATIVE_LAUNCH_TOO_LARGE = 720,
    NOT_SUPPORTED = 801,
};

#endif
