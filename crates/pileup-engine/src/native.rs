//! Native workers on a press: which of the two kinds a client needs.

use std::sync::Arc;

use crate::client::Factory;
use crate::press::Press;
use crate::program::Program;
use crate::refusal::PressError;
use crate::{blocking, worker};

impl Press {
    /// Start native workers on a program; returns at once.
    ///
    /// # Errors
    /// When the program is empty or no thread can be made.
    pub fn native<F: Factory>(self: &Arc<Self>, factory: F, program: Program) -> Result<(), PressError> {
        program.check()?;
        if F::BLOCKING { blocking::start(self, factory, program) } else { worker::start(self, factory, program) }
    }
}
