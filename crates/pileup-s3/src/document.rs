//! Answers in XML: the texts of their innermost elements, or the `<Error>` that has come instead.

use pileup_http1::xml::{Elements, Open, Scanner, Text, Wrong};

use crate::stamp;

/// Longest code of an error.
const CODE: usize = 64;

/// What an answer is looked through for.
pub(crate) trait Collect {
    /// Name of the root.
    const ROOT: &'static str;

    /// An element without others in it: the last of `open`, with its text.
    ///
    /// # Errors
    /// When it cannot be that.
    fn leaf(&mut self, open: &Open<'_>, text: &str) -> Result<(), Wrong>;

    /// An element in the root has ended.
    ///
    /// # Errors
    /// When something is missing in it.
    fn item(&mut self, _name: &[u8]) -> Result<(), Wrong> {
        Ok(())
    }
}

/// An `<Error>` (Amazon S3 API Reference, "Error responses").
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    /// Its code; empty: none.
    pub(crate) code: String,
    /// Of a time that is too far off: that of the request, and that of the server; seconds since the epoch.
    pub(crate) asked: Option<i64>,
    pub(crate) server: Option<i64>,
}

/// What has come instead of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Instead {
    /// An error.
    Said(Said),
    /// Nothing that can be understood, for this reason.
    Wrong(Wrong),
}

/// The answer while it is read.
pub(crate) struct Document<C> {
    scanner: Scanner,
    reader: Reader<C>,
}

struct Reader<C> {
    collect: C,
    said: Option<Said>,
    text: Vec<u8>,
    /// Whether the element at hand has had no other in it.
    leaf: bool,
}

impl<C: Collect> Document<C> {
    pub(crate) fn new(collect: C) -> Self {
        let reader = Reader { collect, said: None, text: Vec::new(), leaf: false };
        Self { scanner: Scanner::default(), reader }
    }

    /// Take the next piece in.
    ///
    /// # Errors
    /// Why it is not what was asked for.
    pub(crate) fn feed(&mut self, piece: &[u8]) -> Result<(), Wrong> {
        self.scanner.feed(piece, &mut self.reader)
    }

    /// What was found, once all has come.
    pub(crate) fn finish(self) -> Result<C, Instead> {
        self.scanner.finish().map_err(Instead::Wrong)?;
        match self.reader.said {
            Some(said) => Err(Instead::Said(said)),
            None => Ok(self.reader.collect),
        }
    }
}

impl<C: Collect> Elements for Reader<C> {
    fn begin(&mut self, open: &Open<'_>) -> Result<(), Wrong> {
        if open.depth() == 1 {
            match open.last() {
                b"Error" => self.said = Some(Said::default()),
                name if name == C::ROOT.as_bytes() => {}
                _ => return Err("its root is another"),
            }
        }
        self.text.clear();
        self.leaf = true;
        Ok(())
    }

    fn text(&mut self, _: &Open<'_>, text: &Text<'_>) -> Result<(), Wrong> {
        if self.leaf { text.add_to(&mut self.text) } else { Ok(()) }
    }

    fn end(&mut self, open: &Open<'_>) -> Result<(), Wrong> {
        if std::mem::take(&mut self.leaf) && open.depth() > 1 {
            let text = std::str::from_utf8(&self.text).map_err(|_| "a text is not UTF-8")?;
            match &mut self.said {
                Some(said) if open.depth() == 2 => said.note(open.last(), text.trim()),
                Some(_) => {}
                None => self.collect.leaf(open, text)?,
            }
        }
        if open.depth() == 2 && self.said.is_none() { self.collect.item(open.last()) } else { Ok(()) }
    }
}

impl Said {
    fn note(&mut self, name: &[u8], text: &str) {
        match name {
            b"Code" if text.len() <= CODE && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.') => {
                text.clone_into(&mut self.code);
            }
            b"RequestTime" => self.asked = stamp::seconds(text),
            b"ServerTime" => self.server = stamp::seconds(text),
            _ => {}
        }
    }
}

/// Of an answer that can only be an error.
pub(crate) struct Nothing;

impl Collect for Nothing {
    const ROOT: &'static str = "Error";

    fn leaf(&mut self, _: &Open<'_>, _: &str) -> Result<(), Wrong> {
        Ok(())
    }
}

/// The begin of an upload in parts.
#[derive(Default)]
pub(crate) struct Begun {
    /// What the upload is called.
    pub(crate) id: String,
}

impl Collect for Begun {
    const ROOT: &'static str = "InitiateMultipartUploadResult";

    fn leaf(&mut self, open: &Open<'_>, text: &str) -> Result<(), Wrong> {
        if open.depth() == 2 && open.last() == b"UploadId" {
            text.clone_into(&mut self.id);
        }
        Ok(())
    }
}

/// The end of an upload in parts.
#[derive(Default)]
pub(crate) struct Completed {
    /// Whether the object has a tag: it is there.
    pub(crate) tagged: bool,
}

impl Collect for Completed {
    const ROOT: &'static str = "CompleteMultipartUploadResult";

    fn leaf(&mut self, open: &Open<'_>, text: &str) -> Result<(), Wrong> {
        self.tagged |= open.depth() == 2 && open.last() == b"ETag" && !text.is_empty();
        Ok(())
    }
}

/// Take a whole document in, so many bytes at a time.
#[cfg(test)]
pub(crate) fn read<C: Collect>(collect: C, text: &str, step: usize) -> Result<C, Instead> {
    let mut document = Document::new(collect);
    for piece in text.as_bytes().chunks(step) {
        document.feed(piece).map_err(Instead::Wrong)?;
    }
    document.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As AWS writes it, shortened.
    const SKEWED: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>RequestTimeTooSkewed</Code>\
        <Message>The difference &gt; 15 min</Message><RequestTime>20150830T123600Z</RequestTime>\
        <ServerTime>2015-08-30T12:52:00Z</ServerTime><MaxAllowedSkewMilliseconds>900000</MaxAllowedSkewMilliseconds></Error>";
    const BEGUN: &str = "<InitiateMultipartUploadResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\
        <Bucket>b</Bucket><Key>k</Key><UploadId>a&amp;b</UploadId></InitiateMultipartUploadResult>";

    #[test]
    fn an_error_is_one_wherever_it_comes() {
        for step in [1, 7, 1000] {
            let Err(Instead::Said(said)) = read(Begun::default(), SKEWED, step) else { panic!("{step}") };
            let expected = Said {
                code: "RequestTimeTooSkewed".to_owned(),
                asked: Some(1_440_938_160),
                server: Some(1_440_939_120),
            };
            assert_eq!(said, expected);
        }
        let text = "<Error><Code>a b</Code><Inner><Code>Other</Code></Inner></Error>";
        assert_eq!(read(Nothing, text, 9).err(), Some(Instead::Said(Said::default())), "a code is a word");
    }

    #[test]
    fn the_id_of_an_upload() {
        for step in [1, 5, 1000] {
            assert_eq!(read(Begun::default(), BEGUN, step).ok().unwrap().id, "a&b");
        }
    }

    #[test]
    fn every_cut_is_seen() {
        for (text, end) in [SKEWED, BEGUN].iter().flat_map(|text| (0..text.len()).map(move |end| (text, end))) {
            assert!(matches!(read(Begun::default(), &text[..end], 50), Err(Instead::Wrong(_))), "{}", &text[..end]);
        }
        let other = "<ListBucketResult></ListBucketResult>";
        assert_eq!(read(Begun::default(), other, 50).err(), Some(Instead::Wrong("its root is another")));
    }
}
