"""kirin for Spack: `spack repo create` makes a repository of packages; this file goes into its packages/kirin."""

import os

from spack.package import *


class Kirin(Package):
    """The g6 calls of the GRAPE-6 computer on the vector units of CPUs and on NVIDIA GPUs."""

    # Where your checkout lies; kirin has no public address yet.
    git = "file:///path/to/kirin"

    license("MIT OR Apache-2.0", checked_by="kirin")

    version("main", branch="main")

    depends_on("c", type="build")
    depends_on("rust@1.89:", type="build")

    def install(self, spec, prefix):
        cargo = which("cargo", required=True)
        cargo("build", "--release", "--locked")
        Executable("target/release/kirin")("install", "--prefix", prefix)
        # The list of `kirin uninstall`: these files are Spack's.
        os.remove(prefix.share.kirin.manifest)

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        Executable(self.prefix.bin.kirin)("check")
