//! How many bytes a block sends to the device, with a driver that does nothing.

use std::path::PathBuf;
use std::process::Command;

use ffi_tests::compiler::{Link, compile};
use ffi_tests::generate::repository;
use ffi_tests::library;
use kirin_testing::process::{self, available, clean_command, texts};
use kirin_testing::skipped;

/// The folder of the driver that does nothing; `None` where there is no compiler.
fn idle_driver() -> Option<PathBuf> {
    if !available("g++") {
        skipped("the driver that does nothing: no g++");
        return None;
    }
    let folder = library::workspace().join("idle-cuda");
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    let mut compiler = Command::new("g++");
    compiler.args([
        "-std=c++17",
        "-O1",
        "-fPIC",
        "-shared",
        "-Wl,-soname,libcuda.so.1",
        "-o",
    ]);
    compiler.arg(folder.join("libcuda.so.1"));
    compiler.arg(repository().join("ffi-tests/fake-cuda/others/idle.cc"));
    let output = process::run(&mut compiler);
    assert!(output.status.success(), "{output:?}");
    Some(folder)
}

/// Only the i-particle is sent, as an argument, however many j-particles there are, also at a new time. The order of the pages, the
/// schedule of the joins and the list of the pages to predict stay on the device.
#[test]
fn one_i_particle_is_less_than_a_kilobyte() {
    let (Some(client), Some(driver)) = (compile("hosttime.c", Link::None), idle_driver()) else {
        return;
    };
    // Forces at the same time, and at a new time in each step.
    for (case, nj) in [
        ("2", "1024"),
        ("2", "65536"),
        ("2", "262144"),
        ("3", "1024"),
        ("3", "262144"),
    ] {
        let settings = [
            ("KIRIN_BACKEND", "cuda"),
            ("KIRIN_PRECISION", "mixed"),
            // No kernel reads memory of the host: all that is sent is copied.
            ("IDLE_CUDA_MAPS", "0"),
        ];
        let mut command = clean_command(&client, &settings);
        command.env("LD_LIBRARY_PATH", &driver);
        command.arg(library::fresh().folder().join("libkirin.so"));
        // Forces on one i-particle, without writes, for a millisecond.
        command.args([case, nj, "1", "0", "0", "1"]);
        let output = process::run(&mut command);
        let (out, err) = texts(&output);
        assert!(output.status.success() && err.is_empty(), "{err}");
        let words: Vec<f64> = out
            .split_whitespace()
            .filter_map(|w| w.parse().ok())
            .collect();
        let (up, kernels) = (words[2], words[4]);
        assert!(kernels >= 1.0 && up < 1000.0, "{case} {nj}: {out}");
    }
}
