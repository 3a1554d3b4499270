//! The command `parallel`.
fn main() {}
