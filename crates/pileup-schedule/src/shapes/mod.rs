//! Shapes: what gives a load its levels, where that is not its clients or its rate alone. A file each, and a line in the list below.

mod flat;
mod replay;
mod segments;
mod shape;
mod steered;

use serde::Deserialize;

pub use flat::Flat;
pub use segments::Segments;
pub use shape::Shape;
pub use steered::{Steered, Steps};

use crate::starts::Replay;

macro_rules! shapes {
    ($($(#[doc = $told:literal])* $word:ident: $shape:ty,)*) => {
        /// The shape of a load: one of these at most.
        #[derive(Clone, Debug, Default, Deserialize, PartialEq)]
        pub struct Shapes {
            $($(#[doc = $told])* #[serde(default)] pub $word: Option<$shape>,)*
        }

        impl Shapes {
            /// All words that there are.
            pub(crate) const WORDS: &[&str] = &[$(stringify!($word)),*];

            /// The one that is given: asked for several times in each iteration.
            pub(crate) fn first(&self) -> Option<&dyn Shape> {
                $(if let Some(shape) = &self.$word {
                    return Some(shape);
                })*
                None
            }

            /// Those that are given.
            pub(crate) fn given(&self) -> impl Iterator<Item = &dyn Shape> {
                [$(self.$word.as_ref().map(|shape| shape as &dyn Shape)),*].into_iter().flatten()
            }
        }
    };
}

shapes! {
    /// Starts of a record instead of a rate, which is then only their mean.
    replay: Replay,
    /// Levels one after another, instead of clients or rate, ramp, warm-up and time.
    segments: Segments,
    /// The highest level it is ever given: then its clients or rate are those of the start and may be changed while it goes on.
    steered: Steered,
}
