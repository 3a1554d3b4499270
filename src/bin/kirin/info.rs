//! `kirin info`: version, backends, instruction sets, threads, settings.

use std::fmt::Write;
use std::process::ExitCode;

use kirin::backend::{self, cpu};
use kirin::config::{self, InstructionSet, SETTINGS, Setting, Settings};

use crate::machine::Machine;
use crate::report;

/// Runs the subcommand.
pub fn run() -> ExitCode {
    report::print(&text(config::settings()));
    ExitCode::SUCCESS
}

fn text(settings: &Settings) -> String {
    let machine = Machine::here();
    let available = cpu::available();
    let backend = backend::choose(settings);
    let mut text = String::new();
    let mut row = |name: &str, value: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<18} {value}");
    };
    row("kirin", env!("CARGO_PKG_VERSION").to_owned());
    row(
        "machine",
        format!(
            "{}, {}, {} cores allowed",
            machine.processor, machine.system, machine.cores
        ),
    );
    row(
        "in use",
        format!("{}, precision {}", backend.name(), backend.precision()),
    );
    row(
        "threads",
        format!(
            "{}{}",
            cpu::threads(settings.threads),
            match settings.threads {
                0 => " (all cores allowed to the process, divided by the local MPI ranks)",
                _ => " (KIRIN_THREADS)",
            }
        ),
    );
    row("pipelines", settings.npipes.to_string());

    text.push_str("\nbackends\n");
    for (name, usable) in backends(&available) {
        let _ = writeln!(text, "  {name:<16} {usable}");
    }
    text.push_str("\ninstruction sets of the cpu backend\n");
    for set in SETS {
        let _ = writeln!(
            text,
            "  {:<16} {}",
            set.to_string(),
            set_state(set, &available, &backend.name())
        );
    }
    text.push_str("\nsettings\n");
    for setting in SETTINGS {
        let (value, origin) = (setting.value(settings), origin(setting));
        let _ = writeln!(text, "  {:<20} {value:<10} {origin}", setting.name);
        let _ = writeln!(text, "  {:<20} {}", "", setting.about);
    }
    text
}

/// Each backend with why it can be used or cannot.
fn backends(available: &[InstructionSet]) -> [(&'static str, String); 3] {
    let best = available
        .first()
        .map_or_else(String::new, |s| s.to_string());
    [
        (
            "cuda",
            "not usable: this version of kirin has no CUDA backend".to_owned(),
        ),
        (
            "cpu",
            format!("usable: vector kernels, {best} is the widest this processor has"),
        ),
        (
            "reference",
            "usable: plain double-precision loops, everywhere; never chosen by itself".to_owned(),
        ),
    ]
}

const SETS: [InstructionSet; 4] = [
    InstructionSet::Avx512,
    InstructionSet::Avx2,
    InstructionSet::Neon,
    InstructionSet::Portable,
];

fn set_state(set: InstructionSet, available: &[InstructionSet], backend: &str) -> &'static str {
    if backend == format!("cpu {set}") {
        "usable, chosen"
    } else if available.contains(&set) {
        "usable"
    } else if of_this_architecture(set) {
        "not usable: this processor lacks it"
    } else {
        "not usable: it belongs to another architecture"
    }
}

fn of_this_architecture(set: InstructionSet) -> bool {
    match set {
        InstructionSet::Avx2 | InstructionSet::Avx512 => cfg!(target_arch = "x86_64"),
        InstructionSet::Neon => cfg!(target_arch = "aarch64"),
        InstructionSet::Auto | InstructionSet::Portable => true,
    }
}

/// Where the value of a setting comes from.
fn origin(setting: &Setting) -> String {
    let Some(value) = std::env::var_os(setting.name) else {
        return "default".to_owned();
    };
    let value = value.to_string_lossy().into_owned();
    let (_, complaints) = config::from_variables([(setting.name.to_owned(), value.clone())]);
    if complaints.is_empty() {
        "environment".to_owned()
    } else {
        format!(
            "default; \"{value}\" in the environment is not one of: {}",
            setting.values
        )
    }
}
