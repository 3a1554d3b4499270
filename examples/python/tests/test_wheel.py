"""The builder of the wheel, without a library: python tests/test_wheel.py"""

import base64
import contextlib
import hashlib
import io
import os
import struct
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import wheel_of_kirin as builder


def elf(number, versions=b""):
    """The beginning of an ELF file of a machine, with names of versions of glibc."""
    return b"\x7fELF" + bytes(14) + struct.pack("<H", number) + bytes(40) + versions


def mac(number):
    return bytes.fromhex("cffaedfe") + struct.pack("<I", number) + bytes(40)


class Tags(unittest.TestCase):
    def test_the_tag_says_where_the_wheel_runs(self):
        for binary, wanted in [
            (elf(62), "linux_x86_64"),
            (elf(62, b"GLIBC_2.2.5\0GLIBC_2.14\0"), "manylinux_2_17_x86_64"),
            (elf(62, b"GLIBC_2.9\0GLIBC_2.34\0"), "manylinux_2_34_x86_64"),
            (elf(183, b"GLIBC_2.17\0"), "manylinux_2_17_aarch64"),
            (mac(0x0100000C), "macosx_11_0_arm64"),
            (mac(0x01000007), "macosx_11_0_x86_64"),
        ]:
            self.assertEqual(builder.tag({"library": binary}), f"py3-none-{wanted}")

    def test_the_newest_glibc_of_all_counts(self):
        files = {"library": elf(62, b"GLIBC_2.17\0"), "command": elf(62, b"GLIBC_2.28\0")}
        self.assertEqual(builder.tag(files), "py3-none-manylinux_2_28_x86_64")

    def test_other_files_are_refused(self):
        fat = bytes.fromhex("cafebabe00000002") + bytes(40)
        for files, words in [
            ({"kirin.so": b"#!/bin/sh\nexit 0 # as long as a header\n"}, "kirin.so is no"),
            ({"kirin.so": b""}, "kirin.so is no"),
            ({"kirin.so": elf(243)}, "kirin.so is no"),
            ({"kirin.so": fat}, "kirin.so is no"),
            ({"kirin.so": elf(62), "kirin": elf(183)}, "several processors"),
        ]:
            with self.assertRaisesRegex(SystemExit, words):
                builder.tag(files)


class Wheels(unittest.TestCase):
    def test_a_relative_path_begins_at_the_repository(self):
        os.environ["LIBKIRIN"] = "Cargo.toml"
        try:
            self.assertEqual(builder.library(), builder.ROOT / "Cargo.toml")
            os.environ["LIBKIRIN"] = "target/there-is-none.so"
            with self.assertRaisesRegex(SystemExit, "there is no library .*there-is-none.so"):
                builder.binaries()
        finally:
            del os.environ["LIBKIRIN"]

    def test_a_copy_of_the_folder_is_refused(self):
        root = builder.ROOT
        with tempfile.TemporaryDirectory() as folder:
            builder.ROOT = Path(folder)
            try:
                with self.assertRaisesRegex(SystemExit, "pip before 21.3"):
                    builder.build_wheel(folder)
            finally:
                builder.ROOT = root

    def build(self, names, binary):
        """The files of a wheel whose libraries and command are these, with their modes, its name, and what the builder says."""
        with tempfile.TemporaryDirectory() as folder:
            for name in names:
                (Path(folder) / name).write_bytes(binary)
            os.environ["LIBKIRIN"] = str(Path(folder) / names[0])
            try:
                # It says on stderr what the folder lacks.
                with contextlib.redirect_stderr(io.StringIO()) as said:
                    name = builder.build_wheel(folder)
            finally:
                del os.environ["LIBKIRIN"]
            with zipfile.ZipFile(Path(folder) / name) as wheel:
                modes = {entry.filename: entry.external_attr >> 16 & 0o777 for entry in wheel.infolist()}
                return {name: wheel.read(name) for name in wheel.namelist()}, modes, name, said.getvalue()

    def test_everything_is_in_it_and_recorded(self):
        names = ["libkirin.so", "libkirin_nbody6.so", "libkirin_sapporo.so", "kirin"]
        files, modes, name, said = self.build(names, elf(62, b"GLIBC_2.17\0"))
        self.assertRegex(name, r"^kirin_nbody-[0-9.]+-py3-none-manylinux_2_17_x86_64\.whl$")
        self.assertEqual(said, "")
        info = "-".join(name.split("-")[:2]) + ".dist-info"
        for wanted in [
            "kirin/lib/libkirin.so.0", "kirin/lib/libkirin_nbody6.so.0", "kirin/lib/libkirin_sapporo.so.0", "kirin/bin/kirin",
            "kirin/__init__.py", "kirin/__init__.pyi", "kirin/py.typed", "kirin/workers/gravity_field", "kirin/include/kirin.h",
            "kirin/include/kirin.f90", f"{info}/METADATA", f"{info}/WHEEL", f"{info}/licenses/LICENSE-MIT",
        ]:
            self.assertIn(wanted, files)
        runs = sorted(name for name, mode in modes.items() if mode == 0o755)
        self.assertEqual(runs, ["kirin/bin/kirin", "kirin/workers/gravity_field"])
        recorded = dict(line.rsplit(",", 2)[:2] for line in files[f"{info}/RECORD"].decode().splitlines())
        self.assertEqual(set(recorded), set(files))
        for file, digest in recorded.items():
            if digest:
                algorithm, text = digest.split("=")
                found = base64.urlsafe_b64encode(hashlib.new(algorithm, files[file]).digest()).decode().rstrip("=")
                self.assertEqual(found, text, file)

    def test_a_library_alone_makes_a_wheel(self):
        files, _, _, said = self.build(["libkirin.so"], elf(62))
        self.assertIn("without libkirin_nbody6.so", said)
        self.assertFalse([name for name in files if "nbody6.so" in name or "/bin/" in name])
        files, _, name, _ = self.build(["libkirin.dylib"], mac(0x0100000C))
        self.assertIn("kirin/lib/libkirin.dylib", files)
        self.assertTrue(name.endswith("macosx_11_0_arm64.whl"))


if __name__ == "__main__":
    unittest.main()
