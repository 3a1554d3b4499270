//! The compiled kernels, embedded. `kernels/build.py` makes them.

use std::ffi::CString;

use crate::process::settings::Precision;

/// The CUDA version that a driver must know, as `cuDriverGetVersion` counts: that of the NVRTC
/// which wrote the modules.
pub const LEAST_DRIVER: i32 = 12010;

/// The oldest devices for which the modules are compiled.
pub const LEAST_CAPABILITY: (i32, i32) = (6, 0);

/// One module of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Module {
    /// What is the same in every precision.
    Common,
    /// Forces and prediction of one precision.
    Forces(Precision),
}

impl Module {
    /// The module as it was compiled, in PTX.
    fn text(self) -> &'static str {
        macro_rules! text {
            ($name:literal) => {
                include_str!(concat!(
                    env!("CARGO_MANIFEST_DIR"),
                    "/kernels/prebuilt/",
                    $name,
                    ".ptx"
                ))
            };
        }
        match self {
            Self::Common => text!("common"),
            Self::Forces(Precision::Mixed) => text!("mixed"),
            Self::Forces(Precision::Double) => text!("double"),
            Self::Forces(Precision::Single) => text!("single"),
        }
    }

    /// A module of one of its kernels: the driver compiles no more than is used, in a tenth of the
    /// time. No kernel calls another function (`kernels/build.py` sees to that).
    pub fn kernel(self, name: &str) -> Option<CString> {
        let text = self.text();
        let head = text.find(ENTRY)?;
        let begin = text.find(&format!("{ENTRY}{name}("))?;
        let rest = &text[begin + 1..];
        let end = rest.find(ENTRY).unwrap_or(rest.len());
        CString::new([&text[..head], &text[begin..=begin + end], "\n"].concat()).ok()
    }
}

/// What a kernel begins with.
const ENTRY: &str = "\n.visible .entry ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_are_the_module() {
        let precisions = [Precision::Mixed, Precision::Double, Precision::Single];
        for module in precisions
            .map(Module::Forces)
            .into_iter()
            .chain([Module::Common])
        {
            let text = module.text();
            let names = text
                .split(ENTRY)
                .skip(1)
                .filter_map(|t| Some(t.split_once('(')?.0));
            let (head, _) = text.split_once(ENTRY).expect("a kernel");
            let mut joined = head.to_owned();
            for name in names {
                let kernel = module.kernel(name).expect("no zero bytes");
                let kernel = kernel.to_str().expect("ASCII");
                let body = kernel.strip_prefix(head).expect("the same head");
                assert_eq!(body.matches(".entry").count(), 1, "{name}");
                joined.push_str(body.strip_suffix('\n').expect("a line of its own"));
            }
            assert!(joined == text, "{module:?}");
            assert_eq!(module.kernel("force"), None);
        }
    }
}
