//! Why a load cannot be run, in three parts.

use std::error::Error;
use std::fmt::{Display, Formatter, Result};
use std::io;

use pileup_schedule::LoadError;

use crate::verb::{Names, Verb};

/// Why the engine does not begin, or change, a load.
#[derive(Debug)]
pub enum PressError {
    /// The input is not JSON with the known fields.
    Unread {
        /// What it should be: "the load", "a program for the engine".
        what: &'static str,
        /// What the reader says.
        problem: serde_json::Error,
        /// What was expected, and what to do.
        expected: &'static str,
    },
    /// The load is wrong.
    Load(LoadError),
    /// There is no pacing of this name.
    Pacing(String),
    /// The program is wrong.
    Program(ProgramError),
    /// There is no such client, or it is wrong as its protocol says.
    Client(String),
    /// No thread can be made.
    Thread {
        /// What the system says.
        problem: io::Error,
        /// What was expected, and what to do.
        expected: String,
    },
    /// The level of this load cannot be changed.
    NotSteered(String),
    /// The level is out of bounds.
    Level {
        /// Name of the load.
        load: String,
        /// The level.
        level: f64,
        /// The highest.
        most: f64,
    },
}

/// What is wrong with a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramError {
    /// It has no steps.
    Empty,
    /// A step has no name, or is never done.
    Step {
        /// Its name.
        operation: String,
        /// How often it is done.
        times: u64,
    },
    /// A step has a second target, and its verb takes none; or it has none, and its verb takes one.
    Destination {
        /// Name of the step.
        operation: String,
        /// What it does.
        verb: Verb,
    },
    /// All of it is never done.
    Never,
}

impl Display for PressError {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match self {
            Self::Unread { what, problem, expected } => write!(out, "{what}: {problem}; expected {expected}"),
            Self::Load(wrong) => wrong.fmt(out),
            Self::Pacing(name) => {
                write!(out, "pacing is {name:?}; expected coarse, normal or precise (correct the load)")
            }
            Self::Program(wrong) => wrong.fmt(out),
            Self::Client(wrong) => out.write_str(wrong),
            Self::Thread { problem, expected } => {
                write!(out, "no thread can be made: {problem}; expected {expected}")
            }
            Self::NotSteered(load) => {
                write!(out, "the level of {load} cannot be changed; expected a steered load")
            }
            Self::Level { load, level, most } => {
                write!(out, "the level {level} of {load} is out of bounds; expected 0 to {most}")
            }
        }
    }
}

impl Display for ProgramError {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match self {
            Self::Empty => out.write_str("the program has no steps; expected one or more (correct the test)"),
            Self::Step { operation, times } => write!(
                out,
                "step {operation:?} is done {times} times; expected a name and one time or more (correct the test)"
            ),
            Self::Destination { operation, verb } => {
                let traits = verb.traits();
                let (has, expected) = if traits.names == Names::Elsewhere { ("no", "one") } else { ("a", "none") };
                write!(
                    out,
                    "step {operation:?}, a {}, has {has} second target; expected {expected} (correct the test)",
                    traits.word
                )
            }
            Self::Never => out.write_str("the steps are done 0 times; expected one time or more (correct the test)"),
        }
    }
}

impl Error for PressError {}
impl Error for ProgramError {}

impl From<LoadError> for PressError {
    fn from(wrong: LoadError) -> Self {
        Self::Load(wrong)
    }
}

impl From<ProgramError> for PressError {
    fn from(wrong: ProgramError) -> Self {
        Self::Program(wrong)
    }
}
