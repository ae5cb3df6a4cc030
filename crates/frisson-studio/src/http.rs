//! As much of HTTP/1.1 as the page asks for: GET and POST with a stated length, connections that are kept.
//!
//! A thread for each connection, so that a request that waits (for a frame, for news) keeps no other one
//! waiting. A pool would have to be larger than all that a browser may hold open.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// Most bytes of a request before its body.
const MOST_HEAD: u64 = 32 << 10;
/// A connection on which nothing comes for so long is closed.
const IDLE: Duration = Duration::from_secs(60);

/// A request without its body.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// `GET`, `POST` or something else.
    pub method: String,
    /// Path and query.
    pub target: String,
    headers: Vec<(String, String)>,
}

impl Head {
    /// A header, by its name in small letters.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// Length of the body that follows; nothing where it cannot be known.
    #[must_use]
    pub fn body_length(&self) -> Option<u64> {
        // Two ways to say how long a body is are how requests are smuggled.
        if self.header("transfer-encoding").is_some() {
            return None;
        }
        self.header("content-length").map_or(Some(0), |text| text.parse().ok())
    }

    /// Reads what comes before a body. Nothing at the end of the connection, or where it is no HTTP.
    fn read(reader: &mut impl std::io::BufRead) -> Option<Self> {
        let mut limited = reader.take(MOST_HEAD);
        let mut line = |out: &mut String| -> Option<()> {
            out.clear();
            let read = limited.read_line(out).ok()?;
            // A line that was cut off at the limit has no end.
            (read > 0 && out.ends_with('\n')).then(|| out.truncate(out.trim_end().len()))
        };
        let mut text = String::new();
        line(&mut text)?;
        let mut words = text.split(' ');
        let mut head = Self {
            method: words.next()?.to_owned(),
            target: words.next()?.to_owned(),
            headers: Vec::new(),
        };
        if words.next()? != "HTTP/1.1" || words.next().is_some() {
            return None;
        }
        loop {
            line(&mut text)?;
            if text.is_empty() {
                return Some(head);
            }
            let (name, value) = text.split_once(':')?;
            head.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
}

/// An answer as it is sent.
pub struct Reply {
    /// Status.
    pub status: u16,
    /// Headers.
    pub headers: Vec<(&'static str, &'static str)>,
    /// Body.
    pub body: Vec<u8>,
}

/// A connection of a browser.
pub struct Connection {
    reader: BufReader<TcpStream>,
    writer: TcpStream,
}

impl Connection {
    /// Takes a connection over.
    pub fn new(stream: TcpStream) -> std::io::Result<Self> {
        // Answers are whole when they are sent: nothing is gained by waiting for more.
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(IDLE))?;
        Ok(Self { writer: stream.try_clone()?, reader: BufReader::with_capacity(1 << 16, stream) })
    }

    /// The next request.
    pub fn next(&mut self) -> Option<Head> {
        Head::read(&mut self.reader)
    }

    /// The body of a request, whose length was found fit to be read.
    pub fn body(&mut self, length: u64) -> Option<Vec<u8>> {
        // Grows with what comes: a length that is only claimed takes no memory.
        let mut body = Vec::new();
        let read = self.reader.by_ref().take(length).read_to_end(&mut body).ok()?;
        (read as u64 == length).then_some(body)
    }

    /// Sends an answer; false where the page has gone.
    pub fn send(&mut self, reply: &Reply, last: bool) -> bool {
        let mut head =
            // The phrase after the number is for people, who do not read this.
            format!("HTTP/1.1 {} .\r\nContent-Length: {}\r\n", reply.status, reply.body.len());
        for (name, value) in &reply.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(if last { "Connection: close\r\n\r\n" } else { "\r\n" });
        let mut bytes = head.into_bytes();
        // Small answers go in one piece.
        if reply.body.len() < 1 << 16 {
            bytes.extend(&reply.body);
            return self.writer.write_all(&bytes).is_ok();
        }
        self.writer.write_all(&bytes).and_then(|()| self.writer.write_all(&reply.body)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Head> {
        Head::read(&mut text.as_bytes())
    }

    #[test]
    fn a_request_is_read() {
        let head =
            read("POST /t/edit?a=1 HTTP/1.1\r\nHost: x\r\nContent-LENGTH: 12\r\n\r\nbody").unwrap();
        assert_eq!((head.method.as_str(), head.target.as_str()), ("POST", "/t/edit?a=1"));
        assert_eq!(head.header("host"), Some("x"));
        assert_eq!(head.body_length(), Some(12));
    }

    #[test]
    fn what_is_no_request_is_none() {
        let long = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(MOST_HEAD as usize));
        for bad in [
            "",
            "GET",
            "GET / HTTP/1.0\r\n\r\n",
            "GET / HTTP/1.1\r\nno colon\r\n\r\n",
            "GET / HTTP/1.1\r\n",
            &long,
        ] {
            assert_eq!(read(bad), None, "{}", &bad[..bad.len().min(40)]);
        }
        let chunked = read("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n").unwrap();
        assert_eq!(chunked.body_length(), None);
        let odd = read("POST / HTTP/1.1\r\nContent-Length: -3\r\n\r\n").unwrap();
        assert_eq!(odd.body_length(), None);
    }
}
