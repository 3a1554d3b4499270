//! Hundreds of cancelled threads, forked children and memory limits, in each interface: no particle, lock or result
//! is lost.

use ffi_tests::compiler::{Link, clean_command, compile, run, texts};

/// What the clients call the interfaces.
pub const INTERFACES: [(&str, &str); 4] = [
    ("0", "GRAPE-6"),
    ("1", "GRAPE-5"),
    ("2", "regular forces"),
    ("3", "irregular forces"),
];

/// Runs a client that counts what is lost in so many trials.
pub fn nothing_lost(client: &str, trials: usize, settings: &[(&str, &str)]) {
    let Some(program) = compile(client, Link::Shared) else {
        return;
    };
    for (number, name) in INTERFACES {
        let output = run(clean_command(&program, settings).args([number, &trials.to_string()]));
        let (out, err) = texts(&output);
        assert_eq!(out, "0 lost\n", "{client}, {name}: {err}");
    }
}
