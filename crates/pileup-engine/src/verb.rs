//! The registry of verbs: what each does to its target. The same as `src/pileup/model/verbs.py`; a test compares the two.

use serde::Deserialize;

/// What a step does to its object.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    /// Nothing, or waiting for `cost_ns`.
    Noop,
    /// A request with a method of its own.
    Request,
    /// Write a whole object.
    Write,
    /// Read an object or a part of it.
    Read,
    /// Ask for the attributes of an object.
    Stat,
    /// List a folder.
    List,
    /// Remove an object.
    Delete,
    /// Make a folder.
    Mkdir,
    /// Give an object another name: the key without the suffix of its keys, with `to` behind it.
    Rename,
    /// Let the target send an object to another target, past this machine.
    Copy,
    /// Ask the server for the checksum of an object, and compare it with what is known of it.
    Checksum,
    /// Open an object for reading and close it again, no bytes moved.
    Open,
    /// Make a session beside the client's own (connect, TLS, log in) and end it.
    Connect,
}

/// Which names a verb takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// None.
    None,
    /// A part of a url, as it is written.
    Url,
    /// That of an object.
    One,
    /// Those of an object before and after, on the same target.
    Two,
    /// That of an object, and that of another on a second target.
    Elsewhere,
}

/// Which way the bytes of its object go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moves {
    /// Nowhere.
    Nothing,
    /// From the target to the client.
    In,
    /// From the client to the target.
    Out,
    /// From the target to another, past the client.
    Between,
}

/// What is there afterwards that was not there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Makes {
    /// Nothing that is known.
    Nothing,
    /// A file.
    File,
    /// A folder.
    Folder,
}

/// What a verb does. For a request it depends on the method: this is the most that it may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    /// Its word in a program.
    pub word: &'static str,
    /// Whether it changes what is on its target, or on the second one.
    pub changes: bool,
    /// Whether something is gone from its name afterwards.
    pub deletes: bool,
    /// Which names it takes.
    pub names: Names,
    /// Which way bytes go.
    pub moves: Moves,
    /// What it makes.
    pub makes: Makes,
}

/// Verbs that look at an object and move nothing.
const LOOKS: Traits = Traits {
    word: "",
    changes: false,
    deletes: false,
    names: Names::One,
    moves: Moves::Nothing,
    makes: Makes::Nothing,
};
/// Verbs that change an object.
const CHANGES: Traits = Traits { changes: true, ..LOOKS };
/// Verbs without an object.
const PLACELESS: Traits = Traits { names: Names::None, ..LOOKS };

impl Verb {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Noop,
        Self::Request,
        Self::Write,
        Self::Read,
        Self::Stat,
        Self::List,
        Self::Delete,
        Self::Mkdir,
        Self::Rename,
        Self::Copy,
        Self::Checksum,
        Self::Open,
        Self::Connect,
    ];

    /// What it does.
    #[must_use]
    pub const fn traits(self) -> Traits {
        match self {
            Self::Noop => Traits { word: "noop", ..PLACELESS },
            Self::Request => Traits { word: "request", deletes: true, names: Names::Url, ..CHANGES },
            Self::Write => Traits { word: "write", moves: Moves::Out, makes: Makes::File, ..CHANGES },
            Self::Read => Traits { word: "read", moves: Moves::In, ..LOOKS },
            Self::Stat => Traits { word: "stat", ..LOOKS },
            Self::List => Traits { word: "list", ..LOOKS },
            Self::Delete => Traits { word: "delete", deletes: true, ..CHANGES },
            Self::Mkdir => Traits { word: "mkdir", makes: Makes::Folder, ..CHANGES },
            Self::Rename => Traits { word: "rename", deletes: true, names: Names::Two, makes: Makes::File, ..CHANGES },
            Self::Copy => {
                Traits { word: "copy", names: Names::Elsewhere, moves: Moves::Between, makes: Makes::File, ..CHANGES }
            }
            Self::Checksum => Traits { word: "checksum", ..LOOKS },
            Self::Open => Traits { word: "open", ..LOOKS },
            Self::Connect => Traits { word: "connect", ..PLACELESS },
        }
    }
}

impl Names {
    /// Its word outside of the engine.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Url => "url",
            Self::One => "one",
            Self::Two => "two",
            Self::Elsewhere => "elsewhere",
        }
    }
}

impl Moves {
    /// Its word outside of the engine.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::In => "in",
            Self::Out => "out",
            Self::Between => "between",
        }
    }

    /// Whether they pass by the client, which can sum them up.
    #[must_use]
    pub const fn here(self) -> bool {
        matches!(self, Self::In | Self::Out)
    }
}

impl Makes {
    /// Its word outside of the engine.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::File => "file",
            Self::Folder => "folder",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_names_each_by_its_word() {
        for verb in Verb::ALL {
            let word = verb.traits().word;
            assert_eq!(serde_json::from_str::<Verb>(&format!("{word:?}")).unwrap(), verb, "{word}");
        }
    }

    #[test]
    fn what_makes_or_deletes_changes_and_what_has_no_object_does_none_of_it() {
        for traits in Verb::ALL.map(Verb::traits) {
            let touches = traits.makes != Makes::Nothing || traits.deletes || traits.moves == Moves::Out;
            assert!(traits.changes || !touches, "{traits:?}");
            assert!(traits.names != Names::None || !traits.changes, "{traits:?}");
            assert_eq!(traits.names == Names::Elsewhere, traits.moves == Moves::Between, "{traits:?}");
        }
    }
}
