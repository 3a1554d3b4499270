//! The floating-point environment that kirin computes in: round to nearest, no traps, no flushing
//! of subnormal numbers.
//!
//! The client's environment may differ (`-ffpe-trap`, `fesetround`, `-ffast-math`): results would then depend on the
//! thread that computes them. The client's exception flags stay as they are, since Fortran's STOP reports them. On
//! x86-64 the environment is the state of the vector unit (MXCSR); kirin does not use the x87 unit.

/// Runs `compute` in the standard environment, then restores the client's, flags included.
#[inline]
pub fn standard<R>(compute: impl FnOnce() -> R) -> R {
    struct Restore(unit::State);
    impl Drop for Restore {
        fn drop(&mut self) {
            unit::change(self.0);
        }
    }
    let _restore = Restore(unit::state());
    adopt();
    apart(compute)
}

/// Sets the standard environment in this thread for good. For the library's own threads.
pub fn adopt() {
    unit::change(unit::STANDARD);
}

/// Never inlined, so that the compiler cannot move arithmetic out of it.
#[inline(never)]
fn apart<R>(compute: impl FnOnce() -> R) -> R {
    compute()
}

#[cfg(target_arch = "x86_64")]
mod unit {
    use std::arch::asm;

    /// MXCSR: masks of exceptions, rounding, flags.
    pub type State = u32;

    /// As a process begins.
    pub const STANDARD: State = 0x1f80;

    #[inline(always)]
    pub fn state() -> State {
        let mut state = 0;
        // SAFETY: writes four bytes to a variable of this function.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut state, options(nostack, preserves_flags)) };
        state
    }

    #[inline(always)]
    pub fn change(to: State) {
        if state() != to {
            // SAFETY: `to` is the standard state, which Rust takes for granted, or that of the client,
            // who gets control back.
            unsafe {
                asm!("ldmxcsr [{}]", in(reg) &raw const to, options(nostack, preserves_flags))
            };
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod unit {
    use std::arch::asm;

    /// FPCR and FPSR: modes and traps, and flags.
    pub type State = [u64; 2];

    /// As a process begins.
    pub const STANDARD: State = [0, 0];

    #[inline(always)]
    pub fn state() -> State {
        let (control, flags);
        // SAFETY: reads two registers.
        unsafe {
            asm!("mrs {}, fpcr", "mrs {}, fpsr", out(reg) control, out(reg) flags, options(nostack, preserves_flags))
        };
        [control, flags]
    }

    #[inline(always)]
    pub fn change(to: State) {
        if state() != to {
            let [control, flags] = to;
            // SAFETY: `to` is the standard state, which Rust takes for granted, or that of the client,
            // who gets control back.
            unsafe {
                asm!("msr fpcr, {}", "msr fpsr, {}", in(reg) control, in(reg) flags, options(nostack, preserves_flags))
            };
        }
    }
}

/// On other processors the client's environment is assumed to be the standard one.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod unit {
    pub type State = ();
    pub const STANDARD: State = ();
    pub fn state() -> State {}
    pub fn change(_: State) {}
}
