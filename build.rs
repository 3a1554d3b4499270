//! Link settings of the shared library.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Worker threads may be running when a client calls dlclose: the library stays mapped.
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
