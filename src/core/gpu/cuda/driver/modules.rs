//! The compiled kernels, embedded, and how the driver loads them. `kernels/build.py` makes them.

use std::ffi::{CStr, CString, c_int};

use cudarc::driver::sys;

use super::Current;
use super::failure::{Result, ask};
use crate::gpu::plan::Module;
use crate::process::settings::Precision;

/// The oldest driver that accepts the modules, as `cuDriverGetVersion` counts: the CUDA version of the NVRTC
/// that made them.
pub const LEAST_DRIVER: i32 = 12010;

/// The oldest devices for which the modules are compiled.
pub const LEAST_CAPABILITY: (i32, i32) = (6, 0);

impl Module {
    /// The module as it was compiled, in PTX.
    fn text(self) -> &'static str {
        macro_rules! text {
            ($name:literal) => {
                include_str!(concat!(
                    env!("CARGO_MANIFEST_DIR"),
                    "/prebuilt/",
                    $name,
                    ".ptx"
                ))
            };
        }
        match self {
            Self::Common => text!("common"),
            Self::Forces(Precision::Mixed) => text!("mixed"),
            Self::Forces(Precision::Double) => text!("double"),
            Self::Forces(Precision::Single | Precision::Reduced) => text!("single"),
            Self::Forces(Precision::DoubleSingle) => text!("double_single"),
            Self::RegularCommon => text!("regular"),
            Self::Regular(Precision::Mixed) => text!("regular_mixed"),
            Self::Regular(Precision::Double | Precision::DoubleSingle) => text!("regular_double"),
            Self::Regular(Precision::Single | Precision::Reduced) => text!("regular_single"),
        }
    }

    /// The module reduced to one kernel, which the driver compiles in a tenth of the time of the whole module. It is
    /// complete, because kernels call no functions; `kernels/build.py` checks that.
    pub fn kernel(self, name: &str) -> Option<CString> {
        let text = self.text();
        let head = text.find(ENTRY)?;
        let begin = text.find(&format!("{ENTRY}{name}("))?;
        let rest = &text[begin + 1..];
        let end = rest.find(ENTRY).unwrap_or(rest.len());
        CString::new([&text[..head], &text[begin..=begin + end], "\n"].concat()).ok()
    }
}

/// The line of PTX that begins a kernel, up to its name.
const ENTRY: &str = "\n.visible .entry ";

/// Compiles and loads PTX. A failure carries the compiler's log.
fn load(text: &CStr) -> Result<sys::CUmodule> {
    use sys::CUjit_option_enum as Option;
    let mut log = [0u8; 1024];
    let mut options = [
        Option::CU_JIT_ERROR_LOG_BUFFER,
        Option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    // The driver takes the buffer's size in place of a pointer; one byte is left for the final zero.
    let mut values = [
        log.as_mut_ptr().cast(),
        std::ptr::without_provenance_mut(1023),
    ];
    // SAFETY: the text ends in a zero byte, and the options have as many values.
    let loaded = ask!(cuModuleLoadDataEx(
        text.as_ptr().cast(),
        2,
        options.as_mut_ptr(),
        values.as_mut_ptr()
    ));
    loaded.map_err(|failure| {
        let said = CStr::from_bytes_until_nul(&log).unwrap_or_default();
        let said = String::from_utf8_lossy(said.to_bytes());
        let words: Vec<&str> = said.split_whitespace().collect();
        failure.with_log(words.join(" "))
    })
}

/// A module in a device's context. It stays loaded until the process ends.
#[derive(Clone, Copy)]
pub struct Loaded(sys::CUmodule);

// SAFETY: modules belong to the context, not to a thread.
unsafe impl Send for Loaded {}

impl Loaded {
    /// Compiles and loads PTX.
    ///
    /// # Errors
    ///
    /// The driver cannot compile or load it; with the compiler's log.
    pub fn new(_: &Current<'_>, text: &CStr) -> Result<Self> {
        load(text).map(Self)
    }

    /// The kernel of this name.
    ///
    /// # Errors
    ///
    /// The module has none.
    pub fn kernel(self, name: &CStr) -> Result<Kernel> {
        // SAFETY: the module stays loaded; the name ends in a zero byte.
        ask!(cuModuleGetFunction(self.0, name.as_ptr())).map(Kernel)
    }
}

/// A kernel of a loaded module.
#[derive(Clone, Copy)]
pub struct Kernel(pub(super) sys::CUfunction);

// SAFETY: functions belong to the context, not to a thread.
unsafe impl Send for Kernel {}

impl Kernel {
    /// Most threads of a thread block.
    ///
    /// # Errors
    ///
    /// Those of the driver.
    pub fn most_threads(self) -> Result<usize> {
        let which = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK as c_int;
        // SAFETY: the kernel's module stays loaded.
        let most: c_int = ask!(cuFuncGetAttribute(which, self.0))?;
        Ok(usize::try_from(most).unwrap_or(0))
    }

    /// Thread blocks of so many threads that a multiprocessor holds at a time.
    ///
    /// # Errors
    ///
    /// Those of the driver.
    pub fn resident_blocks(self, threads: c_int) -> Result<usize> {
        // SAFETY: the kernel's module stays loaded.
        let blocks: c_int = ask!(cuOccupancyMaxActiveBlocksPerMultiprocessor(
            self.0, threads, 0
        ))?;
        Ok(usize::try_from(blocks).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_are_the_module() {
        let precisions = [Precision::Mixed, Precision::Double, Precision::Single];
        for module in precisions
            .into_iter()
            .flat_map(|precision| [Module::Forces(precision), Module::Regular(precision)])
            .chain([
                Module::Forces(Precision::DoubleSingle),
                Module::Common,
                Module::RegularCommon,
            ])
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
