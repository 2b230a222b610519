//! What clients ask for in XML: PROPFIND and PROPPATCH (RFC 4918, 9.1 and 9.2).

use roxmltree::{Document, Node as Xml, ParsingOptions};

use super::properties::{DAV, Name, property};

/// Most elements, texts and attributes of a question.
const NODES: u32 = 20_000;

/// Which properties are wanted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// All that there are.
    All,
    /// The names of all that there are.
    Names,
    /// These.
    These(Vec<Name>),
}

/// A change of a property.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// From now on it is this element.
    Set(Name, String),
    /// It is gone.
    Remove(Name),
}

impl Change {
    /// The property that is changed.
    pub(crate) fn name(&self) -> &Name {
        match self {
            Self::Set(name, _) | Self::Remove(name) => name,
        }
    }
}

/// What a question cannot be understood for.
pub(crate) type Wrong = String;

/// Read the body of a PROPFIND; without one everything is wanted.
pub(crate) fn wanted(body: &[u8]) -> Result<Wanted, Wrong> {
    if body.is_empty() {
        return Ok(Wanted::All);
    }
    let document = document(body)?;
    let root = root(&document, "propfind")?;
    let mut wanted = None;
    for child in elements(root).filter(|child| child.tag_name().namespace() == Some(DAV)) {
        let next = match child.tag_name().name() {
            "allprop" => Wanted::All,
            "propname" => Wanted::Names,
            "prop" => Wanted::These(elements(child).map(Name::of).collect()),
            _ => continue, // `include` adds nothing to everything; what is unknown is to be ignored (17)
        };
        if wanted.replace(next).is_some() {
            return Err("more than one of allprop, propname and prop".to_owned());
        }
    }
    wanted.ok_or_else(|| "none of allprop, propname and prop".to_owned())
}

/// Read the body of a PROPPATCH: the changes in their order.
pub(crate) fn changes(body: &[u8]) -> Result<Vec<Change>, Wrong> {
    let document = document(body)?;
    let mut changes = Vec::new();
    for instruction in elements(root(&document, "propertyupdate")?) {
        let (sets, removes) = (instruction.has_tag_name((DAV, "set")), instruction.has_tag_name((DAV, "remove")));
        if !sets && !removes {
            continue;
        }
        for element in elements(instruction).filter(|one| one.has_tag_name((DAV, "prop"))).flat_map(elements) {
            changes.push(if removes {
                Change::Remove(Name::of(element))
            } else {
                let (name, text) = property(element).ok_or("a value is nested too deeply")?;
                Change::Set(name, text)
            });
        }
    }
    if changes.is_empty() { Err("no property to set or to remove".to_owned()) } else { Ok(changes) }
}

fn document(body: &[u8]) -> Result<Document<'_>, Wrong> {
    let text = std::str::from_utf8(body).map_err(|_| "the body is not UTF-8".to_owned())?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let options = ParsingOptions { nodes_limit: NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|why| format!("the body is not XML: {why}"))?;
    let nothing = |node: Xml<'_, '_>| node.namespaces().any(|one| one.name().is_some() && one.uri().is_empty());
    if document.descendants().any(nothing) {
        return Err("a prefix is bound to no namespace".to_owned()); // Namespaces in XML 1.0, 5
    }
    Ok(document)
}

fn root<'a, 'input>(document: &'a Document<'input>, name: &str) -> Result<Xml<'a, 'input>, Wrong> {
    let root = document.root_element();
    if root.has_tag_name((DAV, name)) { Ok(root) } else { Err(format!("the body is no {name} of the namespace DAV:")) }
}

fn elements<'a, 'input>(parent: Xml<'a, 'input>) -> impl Iterator<Item = Xml<'a, 'input>> {
    parent.children().filter(Xml::is_element)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(space: &str, local: &str) -> Name {
        Name { space: space.to_owned(), local: local.to_owned() }
    }

    #[test]
    fn what_is_wanted() {
        let ask = |inner: &str| wanted(format!("<propfind xmlns='DAV:'>{inner}</propfind>").as_bytes());
        assert_eq!(wanted(b""), Ok(Wanted::All));
        assert_eq!(ask("<allprop/><include><x/></include>"), Ok(Wanted::All));
        assert_eq!(ask("<new xmlns='urn:n'/><propname/>"), Ok(Wanted::Names));
        assert_eq!(
            ask("<prop><getetag/><p:x xmlns:p='urn:p'/><y xmlns=''/></prop>"),
            Ok(Wanted::These(vec![name("DAV:", "getetag"), name("urn:p", "x"), name("", "y")]))
        );
    }

    #[test]
    fn a11_what_is_no_question_is_refused() {
        for (body, why) in [
            ("<propfind xmlns='DAV:'><allprop></propfind>", "the body is not XML"),
            ("<D:propfind><D:allprop/></D:propfind>", "the body is not XML"),
            ("<!DOCTYPE x [<!ENTITY a 'b'>]><propfind xmlns='DAV:'><allprop/></propfind>", "the body is not XML"),
            ("<propfind xmlns='DAV:'><prop><b:x xmlns:b=''/></prop></propfind>", "bound to no namespace"),
            ("<propfind xmlns='DAV:'/>", "none of allprop"),
            ("<propfind xmlns='DAV:'><allprop/><propname/></propfind>", "more than one"),
            ("<propfind><allprop/></propfind>", "no propfind"),
        ] {
            let told = wanted(body.as_bytes()).unwrap_err();
            assert!(told.contains(why), "{body}: {told}");
        }
        assert_eq!(wanted(b"\xff\xfe<\0"), Err("the body is not UTF-8".to_owned()));
        let many = format!("<propfind xmlns='DAV:'><prop>{}</prop></propfind>", "<a/>".repeat(30_000));
        assert!(wanted(many.as_bytes()).unwrap_err().contains("the body is not XML"));
    }

    #[test]
    fn changes_keep_their_order() {
        let body = "<D:propertyupdate xmlns:D='DAV:' xmlns:p='urn:p'><D:set><D:prop><p:a>1</p:a><p:b/></D:prop></D:set>\
                    <D:remove><D:prop><p:a/></D:prop></D:remove></D:propertyupdate>";
        let set = |local: &str, inner: &str| {
            Change::Set(name("urn:p", local), format!("<{local} xmlns=\"urn:p\">{inner}</{local}>"))
        };
        assert_eq!(changes(body.as_bytes()), Ok(vec![set("a", "1"), set("b", ""), Change::Remove(name("urn:p", "a"))]));
        assert!(changes(b"<D:propertyupdate xmlns:D='DAV:'/>").unwrap_err().contains("no property"));
        assert!(changes(b"").unwrap_err().contains("not XML"));
    }
}
