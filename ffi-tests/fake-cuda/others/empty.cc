// A driver library without any of the driver's functions.
extern "C" __attribute__((visibility("default"))) int fake_cuda_is_empty() { return 1; }
