//! A macro that makes the type of a library from a list of its functions.

/// Declares a library's type: its calls, each with the symbol's name and type, and those that a library may lack.
macro_rules! interface {
    (
        $(#[$about:meta])*
        $Library:ident {
            $($call:ident = $symbol:ident: $type:ty;)*
        }
        $(optional { $($extra:ident = $extra_symbol:ident: $extra_type:ty;)* })?
    ) => {
        $(#[$about])*
        pub struct $Library {
            $($call: $type,)*
            $($($extra: Option<$extra_type>,)*)?
            origin: $crate::client::origin::Origin,
        }

        impl $Library {
            /// The kirin that is linked into this program.
            pub fn linked() -> Self {
                Self {
                    $($call: $crate::symbols::$symbol,)*
                    $($($extra: Some($crate::symbols::$extra_symbol),)*)?
                    origin: $crate::client::origin::Origin::linked(),
                }
            }

            /// The library at `path`, or where the system's loader finds it.
            ///
            /// # Errors
            ///
            /// The file cannot be loaded, or lacks one of the symbols every client needs.
            pub fn open_library(
                path: impl AsRef<std::path::Path>,
            ) -> Result<Self, $crate::client::ClientError> {
                let origin = $crate::client::origin::Origin::open(path.as_ref())?;
                // SAFETY: the interface gives each of these names the type of its field, which kirin's function of that
                // name has; older libraries return nothing where we ignore what is returned.
                unsafe {
                    Ok(Self {
                        $($call: origin.symbol(stringify!($symbol))?,)*
                        $($($extra: origin.symbol(stringify!($extra_symbol)).ok(),)*)?
                        origin,
                    })
                }
            }

            /// The linked kirin, or the library at `path` where one is given.
            ///
            /// # Errors
            ///
            /// Those of [`Self::open_library`].
            pub fn linked_or(
                path: Option<&std::path::Path>,
            ) -> Result<Self, $crate::client::ClientError> {
                path.map_or_else(|| Ok(Self::linked()), Self::open_library)
            }

            /// Whether it is a kirin, which follows the settings of this process.
            pub fn is_kirin(&self) -> bool {
                self.origin.is_kirin()
            }
        }
    };
}
pub(super) use interface;
