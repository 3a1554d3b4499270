//! Builds the driver that interprets PTX, and prints the folder to be put on `LD_LIBRARY_PATH`.

fn main() {
    match fake_cuda::driver() {
        Some(folder) => println!("{}", folder.display()),
        None => std::process::exit(77),
    }
}
