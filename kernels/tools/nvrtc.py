"""NVRTC, NVIDIA's run-time compiler from CUDA C++ to PTX, through ctypes. It needs no GPU."""

import ctypes

from . import wheels

# PTX carries the version of the NVRTC that made it, and drivers older than that refuse it:
# 12.1 is accepted since early 2023.
VERSION = "12.1.105"
WHEEL = wheels.Wheel(
    "nvidia-cuda-nvrtc-cu12",
    VERSION,
    "339b385f50c309763ca65456ec75e17bbefcbbf2893f462cb8b90584cd27a1c2",
    "nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
)


class CompileError(Exception):
    """What the compiler has against a source."""


class Compiler:
    """The library, loaded."""

    def __init__(self):
        library = WHEEL.path()
        # The library looks for this one by name only.
        ctypes.CDLL(str(library.parent / "libnvrtc-builtins.so.12.1"), mode=ctypes.RTLD_GLOBAL)
        self.nvrtc = ctypes.CDLL(str(library))
        self.nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p

    def version(self):
        """Major and minor version, as the library tells them."""
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.check(self.nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
        return major.value, minor.value

    def compile(self, source, name, options):
        """The PTX of `source` (text), which errors call `name`; also what was warned of."""
        program = ctypes.c_void_p()
        self.check(
            self.nvrtc.nvrtcCreateProgram(
                ctypes.byref(program), source.encode(), name.encode(), 0, None, None
            )
        )
        try:
            given = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
            failed = self.nvrtc.nvrtcCompileProgram(program, len(options), given)
            log = self.text(self.nvrtc.nvrtcGetProgramLogSize, self.nvrtc.nvrtcGetProgramLog, program)
            if failed:
                raise CompileError(log or self.nvrtc.nvrtcGetErrorString(failed).decode())
            return self.text(self.nvrtc.nvrtcGetPTXSize, self.nvrtc.nvrtcGetPTX, program), log
        finally:
            self.nvrtc.nvrtcDestroyProgram(ctypes.byref(program))

    def text(self, size_of, get, program):
        size = ctypes.c_size_t()
        self.check(size_of(program, ctypes.byref(size)))
        buffer = ctypes.create_string_buffer(size.value)
        self.check(get(program, buffer))
        return buffer.value.decode()

    def check(self, status):
        if status:
            raise CompileError(self.nvrtc.nvrtcGetErrorString(status).decode())
