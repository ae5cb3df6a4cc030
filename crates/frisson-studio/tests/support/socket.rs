//! As much of the WebSocket protocol (RFC 6455) as a browser's debugging port asks for.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

/// A socket to the browser.
pub struct Socket(TcpStream);

/// Kinds of frames.
const TEXT: u8 = 1;
const CONTINUED: u8 = 0;
const PING: u8 = 9;
const PONG: u8 = 10;

impl Socket {
    /// Connects to an address such as `ws://127.0.0.1:9222/devtools/browser/…`.
    pub fn connect(address: &str) -> Self {
        let rest = address.trim().strip_prefix("ws://").expect("an address of a socket");
        let (host, path) = rest.split_once('/').expect("a path");
        let mut stream = TcpStream::connect(host).unwrap();
        stream.set_nodelay(true).unwrap();
        write!(
            stream,
            "GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        .unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
        Self(stream)
    }

    /// Sends a text.
    pub fn send(&mut self, text: &str) {
        self.write(TEXT, text.as_bytes());
    }

    fn write(&mut self, kind: u8, bytes: &[u8]) {
        let mut frame = vec![0x80 | kind];
        match bytes.len() {
            short @ 0..=125 => frame.push(0x80 | short as u8),
            middle @ 126..=65535 => {
                frame.push(0x80 | 126);
                frame.extend((middle as u16).to_be_bytes());
            }
            long => {
                frame.push(0x80 | 127);
                frame.extend((long as u64).to_be_bytes());
            }
        }
        // A mask of zeros is one, too.
        frame.extend([0; 4]);
        frame.extend(bytes);
        self.0.write_all(&frame).unwrap();
    }

    /// The next whole message.
    pub fn read(&mut self) -> Vec<u8> {
        let mut message = Vec::new();
        loop {
            let mut head = [0; 2];
            self.0.read_exact(&mut head).unwrap();
            let length = match head[1] & 0x7f {
                126 => u64::from(u16::from_be_bytes(self.bytes())),
                127 => u64::from_be_bytes(self.bytes()),
                short => u64::from(short),
            };
            let mut body = vec![0; length as usize];
            self.0.read_exact(&mut body).unwrap();
            match head[0] & 0x0f {
                TEXT | CONTINUED => message.extend(body),
                PING => self.write(PONG, &body),
                _ => continue,
            }
            if head[0] & 0x80 != 0 && head[0] & 0x0f != PING {
                return message;
            }
        }
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.read_exact(&mut bytes).unwrap();
        bytes
    }
}
