//! Properties that clients have set (RFC 4918, 4: dead properties), each kept as the XML element that is answered.

use std::collections::BTreeMap;
use std::fmt::Write;

use roxmltree::Node as Xml;

/// The namespace of WebDAV itself.
pub(crate) const DAV: &str = "DAV:";
/// The namespace of `xml:lang`.
const XML: &str = "http://www.w3.org/XML/1998/namespace";
/// Deepest nesting inside of a value.
const DEEPEST: usize = 64;

/// Name of a property.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name {
    /// Its namespace; empty: none.
    pub(crate) space: String,
    /// Its name there.
    pub(crate) local: String,
}

impl Name {
    /// Name of an element.
    pub(crate) fn of(element: Xml<'_, '_>) -> Self {
        let name = element.tag_name();
        Self { space: name.namespace().unwrap_or_default().to_owned(), local: name.name().to_owned() }
    }

    /// Its name in WebDAV's own namespace; none: it is of another.
    pub(crate) fn dav(&self) -> Option<&str> {
        (self.space == DAV).then_some(self.local.as_str())
    }

    /// Append an element of this name without content.
    pub(crate) fn element(&self, out: &mut String) {
        match self.dav() {
            Some(local) => {
                let _ = write!(out, "<D:{local}/>");
            }
            None => {
                let _ = write!(out, "<{} xmlns=\"", self.local);
                escape(out, &self.space);
                out.push_str("\"/>");
            }
        }
    }
}

/// A property as it was set: its name, and the whole element with namespaces of its own. `None`: nested too deeply.
pub(crate) fn property(element: Xml<'_, '_>) -> Option<(Name, String)> {
    let mut out = String::new();
    let language = element.ancestors().find_map(|one| one.attribute((XML, "lang")));
    write(&mut out, element, language, 0)?;
    Some((Name::of(element), out))
}

/// Append an element; its prefixes are left out, so that it can be anywhere. `language` is that of its surroundings.
fn write(out: &mut String, element: Xml<'_, '_>, language: Option<&str>, depth: usize) -> Option<()> {
    if depth == DEEPEST {
        return None;
    }
    let name = element.tag_name();
    let _ = write!(out, "<{} xmlns=\"", name.name());
    escape(out, name.namespace().unwrap_or_default());
    out.push('"');
    if let Some(language) = language {
        attribute(out, "xml:lang", language);
    }
    let mut number = 0;
    for one in element.attributes() {
        match one.namespace() {
            None => attribute(out, one.name(), one.value()),
            Some(XML) if one.name() == "lang" && language.is_some() => {}
            Some(XML) => attribute(out, &format!("xml:{}", one.name()), one.value()),
            Some(space) => {
                attribute(out, &format!("xmlns:a{number}"), space);
                attribute(out, &format!("a{number}:{}", one.name()), one.value());
                number += 1;
            }
        }
    }
    out.push('>');
    for child in element.children() {
        if child.is_element() {
            write(out, child, None, depth + 1)?;
        } else if child.is_text() {
            escape(out, child.text().unwrap_or_default());
        }
    }
    let _ = write!(out, "</{}>", name.name());
    Some(())
}

fn attribute(out: &mut String, name: &str, value: &str) {
    let _ = write!(out, " {name}=\"");
    escape(out, value);
    out.push('"');
}

/// Append text so that XML gives it back.
pub(crate) fn escape(out: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // A parser would make blanks or a line end of these.
            '\t' | '\n' | '\r' => {
                let _ = write!(out, "&#{};", u32::from(character));
            }
            other => out.push(other),
        }
    }
}

/// The properties of an object or a folder.
#[derive(Clone, Debug, Default)]
pub(crate) struct Properties(BTreeMap<Name, String>);

impl Properties {
    /// The element of this name.
    pub(crate) fn get(&self, name: &Name) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Name, &str)> {
        self.0.iter().map(|(name, element)| (name, element.as_str()))
    }

    /// Keep one.
    pub(crate) fn set(&mut self, name: Name, element: String) {
        self.0.insert(name, element);
    }

    /// Forget one; one that is not there is fine (RFC 4918, 14.23).
    pub(crate) fn remove(&mut self, name: &Name) {
        self.0.remove(name);
    }

    /// Bytes that they take of the capacity.
    pub(crate) fn size(&self) -> u64 {
        self.0.iter().map(|(name, element)| (name.space.len() + name.local.len() + element.len()) as u64).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(text: &str) -> Option<(Name, String)> {
        let document = roxmltree::Document::parse(text).unwrap();
        let found = document.descendants().find(|node| node.has_tag_name(("urn:p", "x"))).unwrap();
        property(found)
    }

    #[test]
    fn a_value_keeps_its_namespaces_attributes_and_language() {
        let text = "<D:prop xmlns:D='DAV:' xmlns:p='urn:p' xml:lang='de'><p:x b='1&amp;2' p:c='3'>a&lt;<y/>\
                    <p:z xmlns='urn:q'><w xml:lang='en'/></p:z><!-- gone --></p:x></D:prop>";
        let (name, element) = kept(text).unwrap();
        assert_eq!((name.space.as_str(), name.local.as_str()), ("urn:p", "x"));
        assert_eq!(
            element,
            "<x xmlns=\"urn:p\" xml:lang=\"de\" b=\"1&amp;2\" xmlns:a0=\"urn:p\" a0:c=\"3\">a&lt;<y xmlns=\"\"></y>\
             <z xmlns=\"urn:p\"><w xmlns=\"urn:q\" xml:lang=\"en\"></w></z></x>"
        );
        assert_eq!(kept(&element).unwrap().1, element, "written again it is the same");
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |depth: usize| format!("<x xmlns='urn:p'>{}{}</x>", "<y>".repeat(depth), "</y>".repeat(depth));
        assert!(kept(&nested(DEEPEST - 1)).is_some());
        assert!(kept(&nested(DEEPEST)).is_none());
    }

    #[test]
    fn names_are_elements_of_their_namespace() {
        let mut out = String::new();
        for (space, local) in [("DAV:", "a"), ("urn:\"", "b"), ("", "c")] {
            Name { space: space.to_owned(), local: local.to_owned() }.element(&mut out);
        }
        assert_eq!(out, "<D:a/><b xmlns=\"urn:&quot;\"/><c xmlns=\"\"/>");
    }
}
