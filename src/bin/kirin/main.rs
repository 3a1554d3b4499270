//! The `kirin` command.

fn main() {
    println!("kirin {}", env!("CARGO_PKG_VERSION"));
}
