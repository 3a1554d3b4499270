//! Writes the headers and Fortran modules in `include/`, `docs/calls.md` and `docs/clients-calls.md`.

use ffi_tests::generate;

fn main() -> std::io::Result<()> {
    for file in generate::all() {
        if !file.is_fresh() {
            if let Some(folder) = file.path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            std::fs::write(&file.path, &file.text)?;
            println!("wrote {}", file.path.display());
        }
    }
    Ok(())
}
