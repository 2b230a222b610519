//! What is stored: a tree of folders and objects in memory, with a capacity.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::time::SystemTime;

use bytes::Bytes;

use crate::dav::properties::Properties;

/// Longest path, bytes.
const LONGEST: usize = 8192;
/// Deepest folder: the tree is walked by recursion.
const DEEPEST: usize = 512;

/// A stored object; its content is never changed, only replaced.
#[derive(Debug)]
pub(crate) struct Object {
    /// Its content.
    pub(crate) data: Bytes,
    /// When it was written.
    pub(crate) modified: SystemTime,
    /// Number of the write in the life of the server; with the size it is the entity tag.
    version: u64,
    sum: OnceCell<u32>,
    /// What clients have noted of it.
    properties: Properties,
}

impl Object {
    /// Entity tag with its quotes.
    pub(crate) fn tag(&self) -> String {
        format!("\"{:x}-{:x}\"", self.version, self.data.len())
    }

    /// Adler-32 of the content (RFC 1950), made when it is first asked for.
    pub(crate) fn adler32(&self) -> u32 {
        *self.sum.get_or_init(|| simd_adler32::adler32(&self.data.as_ref()))
    }
}

/// A folder.
#[derive(Debug)]
pub(crate) struct Folder {
    /// What is in it, by name.
    pub(crate) children: BTreeMap<String, Node>,
    /// When it was made.
    pub(crate) modified: SystemTime,
    /// What clients have noted of it.
    properties: Properties,
}

/// What a path leads to.
#[derive(Debug)]
pub(crate) enum Node {
    /// An object.
    Object(Object),
    /// A folder.
    Folder(Folder),
}

/// Why something cannot be done to the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// Nothing is there.
    Missing,
    /// The folder it should be in is not there.
    NoParent,
    /// Something is there already that cannot be replaced.
    Exists,
    /// The capacity is exceeded.
    Full,
    /// The root cannot be removed or made.
    Root,
    /// Something is there, and it is not to be replaced.
    Taken,
    /// A folder would be in itself, or replace the one that it is in.
    Itself,
    /// Folders would be nested too deeply.
    Deep,
}

/// The path of a request in its parts, decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    /// Names from the root on; empty: the root.
    pub(crate) names: Vec<String>,
    /// Whether a slash at the end says that a folder is meant.
    pub(crate) folder: bool,
}

impl Path {
    /// Read the path of a URL. `None` when it is none: wrong escapes, no UTF-8, `..`, control characters, too long
    /// or too deep.
    pub(crate) fn parse(url_path: &str) -> Option<Self> {
        if url_path.len() > LONGEST {
            return None;
        }
        let mut names = Vec::new();
        for part in url_path.split('/').filter(|part| !part.is_empty() && *part != ".") {
            let name = decode(part)?;
            if name == ".." || name == "." || name.contains('/') || name.chars().any(char::is_control) {
                return None;
            }
            names.push(name);
        }
        if names.len() > DEEPEST {
            return None;
        }
        Some(Self { names, folder: url_path.ends_with('/') })
    }
}

/// A text of a url with its escapes resolved; none where they are wrong, or it is no UTF-8.
pub(crate) fn decode(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let mut digit = || char::from(bytes.next()?).to_digit(16);
        out.push((digit()? * 16 + digit()?) as u8);
    }
    String::from_utf8(out).ok()
}

/// The tree.
#[derive(Debug)]
pub(crate) struct Store {
    root: Node,
    capacity: u64,
    /// Bytes stored, and promised to uploads under way.
    used: u64,
    versions: u64,
}

impl Store {
    /// An empty one.
    pub(crate) fn new(capacity: u64) -> Self {
        Self { root: Node::Folder(Folder::new()), capacity, used: 0, versions: 0 }
    }

    /// Set bytes aside for an upload.
    pub(crate) fn reserve(&mut self, size: u64) -> Result<(), Trouble> {
        match self.used.checked_add(size) {
            Some(used) if used <= self.capacity => {
                self.used = used;
                Ok(())
            }
            _ => Err(Trouble::Full),
        }
    }

    /// Give back what was set aside.
    pub(crate) fn release(&mut self, size: u64) {
        self.used -= size;
    }

    /// Bytes stored and set aside.
    #[cfg(test)]
    pub(crate) fn used(&self) -> u64 {
        self.used
    }

    /// What is at a path.
    pub(crate) fn get(&self, names: &[String]) -> Option<&Node> {
        names.iter().try_fold(&self.root, |node, name| match node {
            Node::Folder(folder) => folder.children.get(name),
            Node::Object(_) => None,
        })
    }

    fn folder(&mut self, names: &[String]) -> Option<&mut Folder> {
        let found = names.iter().try_fold(&mut self.root, |node, name| match node {
            Node::Folder(folder) => folder.children.get_mut(name),
            Node::Object(_) => None,
        });
        match found {
            Some(Node::Folder(folder)) => Some(folder),
            _ => None,
        }
    }

    /// Whether an object can be written at a path, and whether one is there already.
    pub(crate) fn may_put(&self, path: &Path) -> Result<bool, Trouble> {
        let Some((_, parent)) = path.names.split_last() else { return Err(Trouble::Exists) };
        match (self.get(parent), self.get(&path.names)) {
            (Some(Node::Folder(_)), Some(Node::Folder(_))) => Err(Trouble::Exists),
            (Some(Node::Folder(_)), _) if path.folder => Err(Trouble::NoParent),
            (Some(Node::Folder(_)), there) => Ok(there.is_some()),
            _ => Err(Trouble::NoParent),
        }
    }

    /// Store an object whose size was set aside and return its entity tag. The content that was there before is given
    /// free; what clients have noted of it stays.
    pub(crate) fn put(&mut self, path: &Path, data: Bytes) -> Result<String, Trouble> {
        self.may_put(path)?;
        self.versions += 1;
        let mut object = Object::new(data, self.versions);
        let tag = object.tag();
        let Some((name, parent)) = path.names.split_last() else { return Err(Trouble::Root) };
        let folder = self.folder(parent).ok_or(Trouble::NoParent)?;
        if let Some(Node::Object(before)) = folder.children.remove(name) {
            object.properties = before.properties;
            folder.children.insert(name.clone(), Node::Object(object));
            self.used -= before.data.len() as u64;
        } else {
            folder.children.insert(name.clone(), Node::Object(object));
        }
        Ok(tag)
    }

    /// Make a folder.
    pub(crate) fn make_folder(&mut self, path: &Path) -> Result<(), Trouble> {
        let Some((name, parent)) = path.names.split_last() else { return Err(Trouble::Exists) };
        let folder = self.folder(parent).ok_or(Trouble::NoParent)?;
        if folder.children.contains_key(name) {
            return Err(Trouble::Exists);
        }
        folder.children.insert(name.clone(), Node::Folder(Folder::new()));
        Ok(())
    }

    /// Remove an object, or a folder with everything in it.
    pub(crate) fn remove(&mut self, path: &Path) -> Result<(), Trouble> {
        let Some((name, parent)) = path.names.split_last() else { return Err(Trouble::Root) };
        let folder = self.folder(parent).ok_or(Trouble::Missing)?;
        if path.folder && matches!(folder.children.get(name), Some(Node::Object(_))) {
            return Err(Trouble::Missing);
        }
        let removed = folder.children.remove(name).ok_or(Trouble::Missing)?;
        self.used -= removed.weight();
        Ok(())
    }

    /// Copy an object, or a folder (with all that is in it when `deep`), and say whether something was replaced.
    pub(crate) fn copy(&mut self, from: &Path, to: &Path, deep: bool, overwrite: bool) -> Result<bool, Trouble> {
        let replaces = self.may_transfer(from, to, overwrite)?;
        let mut versions = self.versions;
        let copied = self.get(&from.names).ok_or(Trouble::Missing)?.copied(deep, &mut versions);
        self.versions = versions;
        self.reserve(copied.weight())?;
        self.place(to, copied)?;
        Ok(replaces)
    }

    /// Give an object or a folder another name, and say whether something was replaced.
    pub(crate) fn rename(&mut self, from: &Path, to: &Path, overwrite: bool) -> Result<bool, Trouble> {
        let replaces = self.may_transfer(from, to, overwrite)?;
        let Some((name, parent)) = from.names.split_last() else { return Err(Trouble::Root) };
        let moved = self.folder(parent).and_then(|folder| folder.children.remove(name)).ok_or(Trouble::Missing)?;
        self.place(to, moved)?;
        Ok(replaces)
    }

    /// Whether something can go from here to there, and whether something is there that it replaces.
    fn may_transfer(&self, from: &Path, to: &Path, overwrite: bool) -> Result<bool, Trouble> {
        let node = self.get(&from.names).ok_or(Trouble::Missing)?;
        if from.folder && matches!(node, Node::Object(_)) {
            return Err(Trouble::Missing);
        }
        if to.names.starts_with(&from.names) || from.names.starts_with(&to.names) {
            return Err(Trouble::Itself);
        }
        let Some((_, parent)) = to.names.split_last() else { return Err(Trouble::Root) };
        if !matches!(self.get(parent), Some(Node::Folder(_))) {
            return Err(Trouble::NoParent);
        }
        if to.names.len() + node.height() > DEEPEST {
            return Err(Trouble::Deep);
        }
        match self.get(&to.names) {
            Some(_) if !overwrite => Err(Trouble::Taken),
            there => Ok(there.is_some()),
        }
    }

    /// Put something where nothing more is in its way.
    fn place(&mut self, to: &Path, node: Node) -> Result<(), Trouble> {
        let Some((name, parent)) = to.names.split_last() else { return Err(Trouble::Root) };
        let folder = self.folder(parent).ok_or(Trouble::NoParent)?;
        let before = folder.children.insert(name.clone(), node);
        self.used -= before.as_ref().map_or(0, Node::weight);
        Ok(())
    }

    /// Note something else of what is at a path.
    pub(crate) fn note(&mut self, names: &[String], properties: Properties) -> Result<(), Trouble> {
        let before = self.get(names).ok_or(Trouble::Missing)?.properties().size();
        self.reserve(properties.size())?;
        self.release(before);
        let node = names.iter().try_fold(&mut self.root, |node, name| match node {
            Node::Folder(folder) => folder.children.get_mut(name),
            Node::Object(_) => None,
        });
        match node.ok_or(Trouble::Missing)? {
            Node::Object(object) => object.properties = properties,
            Node::Folder(folder) => folder.properties = properties,
        }
        Ok(())
    }
}

impl Object {
    fn new(data: Bytes, version: u64) -> Self {
        let properties = Properties::default();
        Self { data, modified: SystemTime::now(), version, sum: OnceCell::new(), properties }
    }
}

impl Folder {
    fn new() -> Self {
        Self { children: BTreeMap::new(), modified: SystemTime::now(), properties: Properties::default() }
    }
}

impl Node {
    /// What clients have noted of it.
    pub(crate) fn properties(&self) -> &Properties {
        match self {
            Self::Object(object) => &object.properties,
            Self::Folder(folder) => &folder.properties,
        }
    }

    /// Bytes stored in it and below it.
    fn weight(&self) -> u64 {
        let inside = match self {
            Self::Object(object) => object.data.len() as u64,
            Self::Folder(folder) => folder.children.values().map(Self::weight).sum(),
        };
        inside + self.properties().size()
    }

    /// Levels below it.
    fn height(&self) -> usize {
        match self {
            Self::Object(_) => 0,
            Self::Folder(folder) => folder.children.values().map(|child| child.height() + 1).max().unwrap_or(0),
        }
    }

    /// The same once more, as new versions.
    fn copied(&self, deep: bool, versions: &mut u64) -> Self {
        match self {
            Self::Object(object) => {
                *versions += 1;
                let mut copied = Object::new(object.data.clone(), *versions);
                copied.properties = object.properties.clone();
                Self::Object(copied)
            }
            Self::Folder(folder) => {
                let mut copied = Folder::new();
                copied.properties = folder.properties.clone();
                if deep {
                    let children = folder.children.iter();
                    copied.children =
                        children.map(|(name, child)| (name.clone(), child.copied(true, versions))).collect();
                }
                Self::Folder(copied)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dav::properties::Name;

    fn path(text: &str) -> Path {
        Path::parse(text).unwrap()
    }

    fn put(store: &mut Store, at: &str, size: usize) -> Result<String, Trouble> {
        store.reserve(size as u64)?;
        let done = store.put(&path(at), Bytes::from(vec![7; size]));
        if done.is_err() {
            store.release(size as u64);
        }
        done
    }

    #[test]
    fn paths_are_decoded_and_stay_inside() {
        assert_eq!(path("/a%20b//c/").names, ["a b", "c"]);
        assert!(path("/a/").folder && !path("/a").folder);
        assert_eq!(path("/").names, Vec::<String>::new());
        for wrong in ["/../x", "/%2e%2e/x", "/a%2Fb", "/a%0Ab", "/%ff", "/%4", "/%zz"] {
            assert_eq!(Path::parse(wrong), None, "{wrong}");
        }
        assert_eq!(Path::parse(&"/x".repeat(5000)), None);
    }

    #[test]
    fn bytes_are_accounted_exactly() {
        let mut store = Store::new(100);
        store.make_folder(&path("/f/")).unwrap();
        store.make_folder(&path("/f/g")).unwrap();
        put(&mut store, "/f/a", 40).unwrap();
        put(&mut store, "/f/g/b", 50).unwrap();
        assert_eq!(store.used(), 90);
        assert_eq!(put(&mut store, "/f/c", 11).unwrap_err(), Trouble::Full);
        put(&mut store, "/f/c", 10).unwrap();
        assert_eq!(put(&mut store, "/f/c", 1).unwrap_err(), Trouble::Full, "old and new are side by side for a moment");
        store.remove(&path("/f/g")).unwrap();
        assert_eq!(store.used(), 50);
        put(&mut store, "/f/a", 5).unwrap();
        assert_eq!(store.used(), 15);
        store.remove(&path("/f")).unwrap();
        assert_eq!(store.used(), 0);
        assert_eq!(store.reserve(u64::MAX), Err(Trouble::Full));
    }

    #[test]
    fn the_tree_keeps_its_order() {
        let mut store = Store::new(100);
        assert_eq!(put(&mut store, "/no/a", 1).unwrap_err(), Trouble::NoParent);
        assert_eq!(store.make_folder(&path("/no/f")), Err(Trouble::NoParent));
        store.make_folder(&path("/f")).unwrap();
        assert_eq!(store.make_folder(&path("/f")), Err(Trouble::Exists));
        assert_eq!(put(&mut store, "/f", 1).unwrap_err(), Trouble::Exists);
        put(&mut store, "/f/a", 1).unwrap();
        assert_eq!(store.may_put(&path("/f/a")), Ok(true));
        assert_eq!(store.make_folder(&path("/f/a")), Err(Trouble::Exists));
        assert_eq!(put(&mut store, "/f/a/b", 1).unwrap_err(), Trouble::NoParent);
        assert_eq!(store.remove(&path("/f/a/")), Err(Trouble::Missing));
        assert_eq!(store.remove(&path("/f/z")), Err(Trouble::Missing));
        assert_eq!(store.remove(&path("/")), Err(Trouble::Root));
        assert_eq!(store.used(), 1);
    }

    #[test]
    fn a_new_version_has_a_new_tag() {
        let mut store = Store::new(100);
        let first = put(&mut store, "/a", 3).unwrap();
        let second = put(&mut store, "/a", 3).unwrap();
        assert_ne!(first, second);
        let Some(Node::Object(object)) = store.get(&path("/a").names) else { panic!("no object") };
        assert_eq!(object.adler32(), 0x002d_0016, "1 + 3 x 7 = 22; 8 + 15 + 22 = 45");
    }

    fn noted(value: &str) -> Properties {
        let mut properties = Properties::default();
        properties.set(Name { space: String::new(), local: "n".to_owned() }, value.to_owned());
        properties
    }

    #[test]
    fn a11_copies_and_renames_account_every_byte() {
        let mut store = Store::new(200);
        store.make_folder(&path("/f")).unwrap();
        store.make_folder(&path("/f/g")).unwrap();
        put(&mut store, "/f/g/a", 50).unwrap();
        store.note(&path("/f/g/a").names, noted("12345")).unwrap();
        assert_eq!(store.used(), 56);
        assert_eq!(store.copy(&path("/f"), &path("/h"), true, true), Ok(false));
        assert_eq!(store.used(), 112);
        assert_eq!(store.get(&path("/h/g/a").names).unwrap().properties().size(), 6);
        assert_eq!(store.copy(&path("/f"), &path("/h"), true, false), Err(Trouble::Taken));
        assert_eq!(store.copy(&path("/f"), &path("/h"), false, true), Ok(true));
        assert_eq!((store.used(), store.get(&path("/h/g").names).is_none()), (56, true));
        assert_eq!(store.rename(&path("/f/g/a"), &path("/h/b"), true), Ok(false));
        assert_eq!((store.used(), store.get(&path("/f/g/a").names).is_none()), (56, true));
        put(&mut store, "/h/b", 10).unwrap();
        assert_eq!(store.used(), 16, "what was noted of an object outlives its content");
        put(&mut store, "/c", 100).unwrap();
        assert_eq!(store.copy(&path("/c"), &path("/d"), true, true), Err(Trouble::Full));
        assert_eq!(store.note(&path("/c").names, noted(&"x".repeat(100))), Err(Trouble::Full));
        assert_eq!(store.used(), 116);
        store.remove(&path("/h")).unwrap();
        assert_eq!(store.used(), 100);
    }

    #[test]
    fn a11_what_cannot_be_copied_or_renamed_stays() {
        let mut store = Store::new(100);
        store.make_folder(&path("/f")).unwrap();
        store.make_folder(&path("/f/g")).unwrap();
        put(&mut store, "/f/a", 1).unwrap();
        for (from, to, why) in [
            ("/f", "/f", Trouble::Itself),
            ("/f", "/f/g/h", Trouble::Itself),
            ("/f/g", "/f", Trouble::Itself),
            ("/", "/x", Trouble::Itself),
            ("/x", "/y", Trouble::Missing),
            ("/f/a/", "/y", Trouble::Missing),
            ("/f/a", "/x/y", Trouble::NoParent),
        ] {
            assert_eq!(store.copy(&path(from), &path(to), true, true), Err(why), "{from} to {to}");
            assert_eq!(store.rename(&path(from), &path(to), true), Err(why), "{from} to {to}");
        }
        assert_eq!(store.used(), 1);
    }

    #[test]
    fn folders_stay_shallow_whatever_is_renamed() {
        let mut store = Store::new(100);
        for depth in 1..=DEEPEST {
            store.make_folder(&path(&"/a".repeat(depth))).unwrap();
        }
        assert_eq!(Path::parse(&"/a".repeat(DEEPEST + 1)), None);
        store.make_folder(&path("/b")).unwrap();
        assert_eq!(store.rename(&path("/a"), &path("/b/a"), true), Err(Trouble::Deep));
        assert_eq!(store.rename(&path("/a/a"), &path("/b/a"), true), Ok(false));
    }
}
