#!/usr/bin/env python3
"""The variants of the pair loop (kernels/variants), measured on a GPU beside the loops that are shipped.

    benches/variants.py              checks the sums of every variant, then times them; names the fastest for each block
    benches/variants.py --check      only checks, as on the driver that interprets PTX
    benches/variants.py --profile    launches every variant once on each block, for a profiler

Each variant is launched with 1 to as many thread blocks a multiprocessor as are resident, and the fastest launch counts. The
sums of all variants must have the same bits, and be those of a plain sum in double precision.
"""

import argparse
import ctypes
import json
import math
import pathlib
import random
import re
import statistics
import struct
import sys
import time

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
PTX = REPOSITORY / "kernels/variants/prebuilt/variants.ptx"
# The loops that are shipped, by the number of i-particles of a thread.
SHIPPED = {1: "variant_1_unrolled_8", 2: "variant_2_unrolled_4", 4: "variant_4_unrolled_4"}
# Numbers of i-particles and of j-particles.
BLOCKS = [(32, 16384), (64, 16384), (128, 65536), (256, 65536), (1024, 65536), (16384, 65536), (65536, 262144)]
PAGE, SUMS, THREADS = 512, 7, 128
# Pages with stars of their own; more pages have copies of them.
DRAWN = 4
SOFTENING2 = 1e-2
# Launches behind one another, and how often they are timed.
LAUNCHES, TIMES = 5, 7


class Driver:
    """The CUDA driver, with one device."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxPushCurrent_v2", context)
        multiprocessors = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(multiprocessors), 16, device)
        self.multiprocessors = multiprocessors.value
        name = ctypes.create_string_buffer(100)
        self.call("cuDeviceGetName", name, 100, device)
        self.name = name.value.decode()

    def call(self, function, *arguments):
        code = getattr(self.cuda, function)(*arguments)
        if code:
            raise SystemExit(f"{function}: error {code}")

    def memory(self, data):
        """Memory of the device: with these bytes, or so many."""
        size = data if isinstance(data, int) else len(data)
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        if not isinstance(data, int):
            self.call("cuMemcpyHtoD_v2", address, data, ctypes.c_size_t(size))
        return address.value

    def free(self, address):
        self.call("cuMemFree_v2", ctypes.c_uint64(address))

    def read(self, address, size):
        data = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", data, ctypes.c_uint64(address), ctypes.c_size_t(size))
        return data.raw

    def wait(self):
        self.call("cuCtxSynchronize")


class Kernel:
    """A variant on the device."""

    def __init__(self, driver, module, name):
        self.driver, self.name = driver, name
        self.tile = int(name.split("_")[1])
        self.has_rows = self.tile == 1 or name.endswith("_rows")
        self.function = ctypes.c_void_p()
        driver.call("cuModuleGetFunction", ctypes.byref(self.function), module, name.encode())
        self.registers = self.ask("cuFuncGetAttribute", 4, self.function)
        self.resident = max(1, self.ask("cuOccupancyMaxActiveBlocksPerMultiprocessor", self.function, THREADS, ctypes.c_size_t(0)))

    def ask(self, function, *arguments):
        value = ctypes.c_int()
        self.driver.call(function, ctypes.byref(value), *arguments)
        return value.value

    def launches(self, ni, pages):
        """Thread blocks along the i-particles, parts of the pages, and columns of the launches that are compared."""
        widths = [columns for columns in (16, 32, 64, 128) if self.has_rows and columns < 2 * ni] or [128]
        for columns in widths:
            blocks = -(-ni // (columns * self.tile))
            found = set()
            for each in range(1, self.resident + 1):
                parts = 1 << max(0, round(math.log2(each * self.driver.multiprocessors / blocks)))
                found.add(min(parts, pages))
            yield from ((blocks, parts, columns) for parts in sorted(found))

    def launch(self, args, blocks, parts, columns):
        buffer = ctypes.create_string_buffer(args, len(args))
        parameters = (ctypes.c_void_p * 1)(ctypes.addressof(buffer))
        grid, block = (blocks, parts, 1), (columns, THREADS // columns, 1)
        self.driver.call("cuLaunchKernel", self.function, *grid, *block, 0, None, parameters, None)


class Stars:
    """j-particles on the device, predicted already, as `mixed` has them."""

    def __init__(self, driver, pages):
        draw = random.Random(1)
        self.drawn = [
            [([draw.uniform(-1, 1) for _ in range(3)], [draw.uniform(-1, 1) for _ in range(3)]) for _ in range(PAGE)]
            for _ in range(min(pages, DRAWN))
        ]
        predicted = [self.predicted(page, 100 * PAGE * n) for n, page in enumerate(self.drawn)]
        info = struct.Struct("<3dI2iI")
        infos = b"".join(info.pack(1.0, 1.0, 1.0, n, 0, 100 * PAGE * DRAWN, 0) for n in range(pages))
        self.pages = driver.memory(infos)
        self.predicted = driver.memory(b"".join(predicted[n % len(predicted)] for n in range(pages)))
        exact = [self.exact(page) for page in self.drawn]
        self.exact = driver.memory(b"".join(exact[n % len(exact)] for n in range(pages)))
        self.far = driver.memory(bytes(4 * pages))
        self.order = driver.memory(struct.pack(f"<{pages}I", *range(pages)))
        self.redone = driver.memory(bytes(16))

    @staticmethod
    def exact(page):
        return b"".join(struct.pack(f"<{PAGE}d", *(x[k] for x, _ in page)) for k in range(3))

    @staticmethod
    def predicted(page, label):
        single = lambda x: struct.unpack("<f", struct.pack("<f", x))[0]
        high = b"".join(struct.pack("<4f", *x, 1.0) for x, _ in page)
        speed = b"".join(struct.pack("<3fi", *v, label + n) for n, (_, v) in enumerate(page))
        low = b"".join(struct.pack("<4f", *(c - single(c) for c in x), 0.0) for x, _ in page)
        return high + speed + low


class Block:
    """A block of i-particles, and room for its sums."""

    def __init__(self, driver, stars, ni, pages):
        draw = random.Random(2)
        self.driver, self.stars, self.ni, self.pages = driver, stars, ni, pages
        self.targets = [([draw.uniform(-1, 1) for _ in range(3)], [draw.uniform(-1, 1) for _ in range(3)]) for _ in range(ni)]
        record = struct.Struct("<8dq")
        records = [record.pack(*x, *v, SOFTENING2, 0.0, (1 << 30) + n) for n, (x, v) in enumerate(self.targets)]
        self.particles = driver.memory(b"".join(records))
        self.buffers = {}

    def args(self, parts):
        """The arguments of a launch in so many parts, and where its sums lie: a power of two, as the pages are."""
        if parts not in self.buffers:
            each = self.pages // parts
            # The sums of a part are joined as a binary counter counts.
            joins = bytes((n % each + 1 & -(n % each + 1)).bit_length() - 1 for n in range(self.pages))
            depth = each.bit_length()
            first = struct.pack(f"<{parts}I", *(depth * part for part in range(parts)))
            sums = depth * parts * SUMS * self.ni * 8
            self.buffers[parts] = [self.driver.memory(data) for data in (joins, first, sums)] + [depth]
        joins, first, sums, depth = self.buffers[parts]
        s = self.stars
        args = struct.pack(
            "<5Q2d8Q4Q4I2Q2dQ2dQd3IfQ2I",
            *(s.pages, 0, s.predicted, s.exact, s.far, 1.0, 1.0),
            *(self.particles, s.order, joins, first, sums, 0, 0, 0),
            *(0, 0, 0, 0, 0, 0, 0, 0),
            *(0, 0, 0.0, 0.0),
            *(s.redone, 1.0, 1.0, self.pages * PAGE, 0.0),
            *(self.ni, self.pages, parts, -3.0, 0, 0, 0),
        )
        return args, sums, depth

    def spoil(self, parts):
        """Writes NaN where the sums will lie."""
        _, sums, depth = self.args(parts)
        junk = b"\xff" * (depth * parts * SUMS * self.ni * 8)
        self.driver.call("cuMemcpyHtoD_v2", ctypes.c_uint64(sums), junk, ctypes.c_size_t(len(junk)))

    def results(self, parts):
        """The sums of each part: seven arrays of one number an i-particle."""
        _, sums, depth = self.args(parts)
        size = SUMS * self.ni * 8
        return [self.driver.read(sums + part * depth * size, size) for part in range(parts)]

    def free(self):
        for joins, first, sums, _ in self.buffers.values():
            for address in (joins, first, sums):
                self.driver.free(address)
        self.driver.free(self.particles)


def plain(stars, targets, pages):
    """The sums over some pages in double precision, for each i-particle."""
    for x, v in targets:
        sums = [0.0] * SUMS
        for page in pages:
            for y, w in stars.drawn[page % len(stars.drawn)]:
                r, u = [b - a for a, b in zip(x, y)], [b - a for a, b in zip(v, w)]
                r2 = sum(c * c for c in r) + SOFTENING2
                inverse = 1.0 / math.sqrt(r2)
                m_r3 = inverse**3
                rv = -3.0 * sum(a * b for a, b in zip(r, u)) / r2
                sums[3] -= inverse
                for k in range(3):
                    sums[k] += m_r3 * r[k]
                    sums[4 + k] += m_r3 * (u[k] + rv * r[k])
        yield sums


def check(driver, kernels):
    """Compares the sums of all variants, in every shape of their thread blocks, bit by bit and with plain sums."""
    ni, pages, parts = 70, 4, 2
    stars = Stars(driver, pages)
    block = Block(driver, stars, ni, pages)
    args, _, _ = block.args(parts)
    expected = None
    for kernel in kernels:
        for columns in (16, 32, 64, 128) if kernel.has_rows else (128,):
            block.spoil(parts)
            kernel.launch(args, -(-ni // (columns * kernel.tile)), parts, columns)
            driver.wait()
            found = block.results(parts)
            if expected is None:
                expected = found
            if found != expected:
                raise SystemExit(f"{kernel.name}, {columns} columns: other sums than those of {kernels[0].name}")
    for part, found in enumerate(expected):
        numbers = struct.unpack(f"<{SUMS * ni}d", found)
        pages_of = range(part * pages // parts, (part + 1) * pages // parts)
        for i, sums in enumerate(plain(stars, block.targets, pages_of)):
            for c, wanted in enumerate(sums):
                size = max(abs(s) for s in (sums[:3], sums[3:4], sums[4:])[0 if c < 3 else 1 if c == 3 else 2])
                if not abs(numbers[c * ni + i] - wanted) <= 1e-5 * size:
                    raise SystemExit(f"i-particle {i}, sum {c}: {numbers[c * ni + i]} for {wanted}")
    block.free()
    print(f"{len(kernels)} variants give the same sums, and those of double precision to 1e-5")


def timed(driver, kernel, block, launch):
    """Microseconds of a launch."""
    args, _, _ = block.args(launch[1])
    kernel.launch(args, *launch)
    driver.wait()
    times = []
    for _ in range(TIMES):
        begin = time.perf_counter()
        for _ in range(LAUNCHES):
            kernel.launch(args, *launch)
        driver.wait()
        times.append(1e6 * (time.perf_counter() - begin) / LAUNCHES)
    return statistics.median(times)


def measure(driver, kernels):
    """Times all variants on all blocks."""
    rows = []
    for ni, nj in BLOCKS:
        stars = Stars(driver, nj // PAGE)
        block = Block(driver, stars, ni, nj // PAGE)
        print(f"\n{ni} i-particles, {nj} j-particles\n{'variant':32} {'us':>10} {'1e12 pairs/s':>12}  launch")
        found = {}
        for kernel in kernels:
            times = {launch: timed(driver, kernel, block, launch) for launch in kernel.launches(ni, nj // PAGE)}
            best = min(times, key=times.get)
            found[kernel.name] = times[best]
            print(f"{kernel.name:32} {times[best]:10.1f} {ni * nj / times[best] * 1e-6:12.3f}  {best[0]} x {best[1]}, {best[2]} columns")
            rows.append({"variant": kernel.name, "ni": ni, "nj": nj, "us": times[best], "launch": best})
        shipped = min(SHIPPED.values(), key=found.get)
        fastest = min(found, key=found.get)
        print(f"fastest: {fastest}, {found[shipped] / found[fastest]:.3f} times as fast as {shipped}, the best that is shipped")
        block.free()
    return rows


def profile(driver, kernels):
    """Launches every variant once on each block, with as many thread blocks as are resident."""
    for ni, nj in BLOCKS:
        stars = Stars(driver, nj // PAGE)
        block = Block(driver, stars, ni, nj // PAGE)
        for kernel in kernels:
            *_, launch = kernel.launches(ni, nj // PAGE)
            kernel.launch(block.args(launch[1])[0], *launch)
        driver.wait()
        block.free()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only check the sums")
    parser.add_argument("--profile", action="store_true", help="launch every variant once on each block")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write all times there too")
    given = parser.parse_args()
    driver = Driver()
    text = PTX.read_bytes()
    module = ctypes.c_void_p()
    driver.call("cuModuleLoadDataEx", ctypes.byref(module), text + b"\0", 0, None, None)
    names = re.findall(r"^\.visible \.entry (\w+)\(", text.decode(), re.M)
    kernels = [Kernel(driver, module, name) for name in names]
    if given.profile:
        return profile(driver, kernels)
    print(f"{driver.name}, {driver.multiprocessors} multiprocessors")
    print(f"{'variant':32} {'registers':>9} {'resident thread blocks':>22}")
    for kernel in kernels:
        print(f"{kernel.name:32} {kernel.registers:9} {kernel.resident:22}")
    check(driver, kernels)
    if not given.check:
        rows = measure(driver, kernels)
        if given.json:
            given.json.write_text(json.dumps({"device": driver.name, "rows": rows}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
