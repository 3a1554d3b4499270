"""ptxas and nvdisasm: from PTX to machine code, what it needs, and its text. They need no GPU."""

import pathlib
import re
import subprocess
import tempfile

from . import disassembly, wheels

# The same release as the NVRTC that makes the PTX; sm_50 to sm_90. 20 MB.
PTXAS = wheels.Wheel(
    "nvidia-cuda-nvcc-cu12",
    "12.1.105",
    "a0712a05ffd57d9f017580ffcc808b207f7f4ef7a5ca8ac1312318b153739a18",
    "nvidia/cuda_nvcc/bin/ptxas",
)
# One that knows every architecture from sm_50 to sm_121. 40 MB.
NEWER_PTXAS = wheels.Wheel(
    "nvidia-cuda-nvcc-cu12",
    "12.9.86",
    "5d6a0d32fdc7ea39917c20065614ae93add6f577d840233237ff08e9a38f58f0",
    "nvidia/cuda_nvcc/bin/ptxas",
)
# The oldest nvdisasm that the index has; sm_75 and newer. 4 MB.
NVDISASM = wheels.Wheel(
    "nvidia-cuda-nvdisasm",
    "13.2.51",
    "5a7acf77c55d6d2911ed6155d4d5bc156ffadf9df7a68a89b0c1155f4b13688c",
    "nvidia/cu13/bin/nvdisasm",
)


class ToolError(Exception):
    """What ptxas has against the PTX."""


class Resources:
    """What ptxas says of a kernel."""

    def __init__(self, registers, stack, spills, shared, threads):
        self.registers = registers
        self.stack = stack  # bytes a thread
        self.spills = spills  # bytes stored and loaded
        self.shared = shared  # bytes a block
        self.threads = threads  # most a block


def version(program):
    """The release that a program is of."""
    text = subprocess.run([str(program), "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return re.search(r"V([\d.]+)", text).group(1)


def most_threads(ptx):
    """Threads per block by kernel, from the launch bounds in the PTX."""
    found = {}
    for entry in re.split(r"^\.visible \.entry ", ptx, flags=re.M)[1:]:
        bound = re.search(r"^\.maxntid (\d+)(?:, *(\d+))?(?:, *(\d+))?", entry.split("{")[0], re.M)
        if bound:
            x, y, z = (int(n or 1) for n in bound.groups())
            found[re.match(r"\w+", entry).group()] = x * y * z
    return found


def resources(report, threads):
    """Resources by kernel, from what `ptxas -v` prints."""
    found = {}
    for part in report.split("Compiling entry function ")[1:]:
        name = re.match(r"'(\w+)'", part).group(1)
        registers = re.search(r"Used (\d+) registers", part)
        frame = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", part)
        shared = re.search(r"(\d+) bytes smem", part)
        stack, stores, loads = map(int, frame.groups())
        found[name] = Resources(
            int(registers.group(1)), stack, stores + loads, int(shared.group(1)) if shared else 0, threads.get(name)
        )
    return found


def assemble(ptxas, nvdisasm, path, architecture):
    """Resources and functions by kernel; no functions where nvdisasm does not know the architecture."""
    with tempfile.TemporaryDirectory() as scratch:
        cubin = pathlib.Path(scratch, "module.cubin")
        command = [str(ptxas), "-v", "-arch", architecture, str(path), "-o", str(cubin)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise ToolError(f"{path.name} for {architecture}: {done.stdout.strip()}")
        text = subprocess.run(
            [str(nvdisasm), "--print-code", "--print-instruction-encoding", str(cubin)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
    functions = disassembly.parse(text.stdout) if text.returncode == 0 else {}
    return resources(done.stdout, most_threads(path.read_text())), functions
