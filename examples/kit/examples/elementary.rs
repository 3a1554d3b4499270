//! Writes the coefficients of `src/elementary.rs` for a GPU: `cargo run -p kirin-kit --example elementary`.

fn main() -> std::io::Result<()> {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/kernels/elementary_coefficients.cuh"
    );
    std::fs::write(file, kirin_kit::elementary::header())
}
