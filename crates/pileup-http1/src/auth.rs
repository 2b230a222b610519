//! Credentials for the server: a token or a password. Certificates belong to TLS.

use base64::Engine as _;
use http::HeaderValue;
use pileup_net::Unusable;
use pileup_net::token::Token;

use crate::address::Address;
use crate::settings::Settings;

const ONE: &str = "one of them";
const TAKE_OUT: &str = "take one out of the credentials";

/// The token, given or from a file.
///
/// # Errors
/// When it would travel unencrypted over a network, or is none.
pub(crate) fn token(settings: &Settings, address: &Address) -> Result<Option<Token>, Unusable> {
    let token = match (&settings.token, &settings.token_file) {
        (None, None) => return Ok(None),
        (Some(_), Some(_)) => {
            return Err(Unusable::new("a token and a token_file are given", ONE, TAKE_OUT));
        }
        (Some(text), None) => Token::given(text)?,
        (None, Some(path)) => Token::file(path)?,
    };
    if settings.user.is_some() {
        return Err(Unusable::new("a token and a user are given", ONE, TAKE_OUT));
    }
    hidden("token", address)?;
    Ok(Some(token))
}

/// The value of the Authorization header of a user with a password; none without a user.
///
/// # Errors
/// When it would travel unencrypted over a network, or cannot be in a header.
pub(crate) fn password(settings: &Settings, address: &Address) -> Result<Option<HeaderValue>, Unusable> {
    let Some(user) = &settings.user else {
        return match settings.password {
            Some(_) => Err(Unusable::new("a password without a user", "both", "add user to the credentials")),
            None => Ok(None),
        };
    };
    let pair = format!("{user}:{}", settings.password.as_deref().unwrap_or_default());
    hidden("password", address)?;
    let text = format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair));
    let mut value = HeaderValue::from_str(&text)
        .map_err(|_| Unusable::new("the password cannot be in a header", "plain text", "report this as a bug"))?;
    value.set_sensitive(true);
    Ok(Some(value))
}

fn hidden(kind: &str, address: &Address) -> Result<(), Unusable> {
    if address.tls || address.is_loopback() {
        return Ok(());
    }
    Err(Unusable::new(
        format!("a {kind} would travel unencrypted to {}", address.host),
        "https, or a loopback address",
        format!("write https:// in the url, or take the {kind} out"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str, json: &str) -> Result<(Option<Token>, Option<HeaderValue>), Unusable> {
        let settings: Settings = serde_json::from_str(json).unwrap();
        let address = Address::parse(url).unwrap();
        Ok((token(&settings, &address)?, password(&settings, &address)?))
    }

    #[test]
    fn secrets_travel_encrypted_or_not_at_all() {
        let json = r#"{"url": "", "token": "abc\n"}"#;
        for url in ["https://se01/", "http://127.0.0.1:8000/", "http://localhost/", "http://[::1]/"] {
            assert_eq!(&*of(url, json).unwrap().0.unwrap().now().unwrap(), "abc");
        }
        assert_eq!(
            of("http://se01/", json).unwrap_err().to_string(),
            "a token would travel unencrypted to se01; expected https, or a loopback address (write https:// in the url, or take the token out)"
        );
        assert!(of("http://127.0.0.1.site.org/", r#"{"url": "", "user": "u", "password": "p"}"#).is_err());
    }

    #[test]
    fn basic_is_as_rfc_7617_says() {
        let value =
            of("https://h/", r#"{"url": "", "user": "Aladdin", "password": "open sesame"}"#).unwrap().1.unwrap();
        assert_eq!(value.as_bytes(), b"Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        assert!(value.is_sensitive());
        assert!(matches!(of("http://h/", r#"{"url": ""}"#), Ok((None, None))));
        for json in [
            r#"{"url": "", "token": "t", "user": "u"}"#,
            r#"{"url": "", "token": "t", "token_file": "/t"}"#,
            r#"{"url": "", "password": "p"}"#,
        ] {
            assert!(of("https://h/", json).unwrap_err().to_string().contains("; expected "));
        }
        assert!(!of("https://h/", r#"{"url": "", "token": "a\nsecret"}"#).unwrap_err().to_string().contains("secret"));
    }
}
