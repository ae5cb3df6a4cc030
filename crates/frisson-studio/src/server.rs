//! The server: on the loopback only, for pages that know the token.
//!
//! Plain requests are all it needs: the page asks for a frame when it has drawn one, and waits for news
//! with a request that is answered when there are any. So there is no socket protocol beside HTTP, and of
//! HTTP only what `http.rs` has.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::http::{Connection, Head, Reply};
use crate::page::Page;
use crate::routes::{Answer, Asked, answer};
use crate::studio::Studio;

/// Connections at the same time; a browser holds six for each page.
const MOST_CONNECTIONS: usize = 64;
/// Most that a page may send [bytes]: a text or an edit.
const MOST_BODY: u64 = 8 << 20;
/// Most that a file dropped on the page may have [bytes].
const MOST_FILE: u64 = 512 << 20;

/// Nothing but the page's own files is loaded or run, whatever a scene says.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
    img-src 'self' blob: data:; connect-src 'self'; media-src blob:; worker-src 'none'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A server that listens.
pub struct Served {
    listener: TcpListener,
    guest: Guest,
}

/// What every connection needs.
struct Guest {
    studio: Arc<Studio>,
    page: Page,
    token: String,
    address: SocketAddr,
    open: AtomicUsize,
}

impl Served {
    /// Listens on the loopback; port 0 takes any that is free.
    pub fn bind(studio: Arc<Studio>, port: u16, page: Page) -> Result<Self, String> {
        let wanted = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let failed = |e: std::io::Error| format!("cannot listen on {wanted}: {e}");
        let listener = TcpListener::bind(wanted).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let mut random = [0u8; 16];
        getrandom::fill(&mut random).map_err(|e| format!("no random numbers: {e}"))?;
        let token = random.iter().map(|b| format!("{b:02x}")).collect();
        let open = AtomicUsize::new(0);
        Ok(Self { listener, guest: Guest { studio, page, token, address, open } })
    }

    /// The page's address, token included.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/{}/", self.guest.address, self.guest.token)
    }

    /// Answers until the process ends.
    pub fn run(self) {
        let guest = Arc::new(self.guest);
        for stream in self.listener.incoming().flatten() {
            // Not answered at all: a refusal would need a thread, of which there are enough.
            if guest.open.fetch_add(1, Ordering::SeqCst) >= MOST_CONNECTIONS {
                guest.open.fetch_sub(1, Ordering::SeqCst);
                continue;
            }
            let own = Arc::clone(&guest);
            std::thread::spawn(move || {
                own.talk(stream);
                own.open.fetch_sub(1, Ordering::SeqCst);
            });
        }
    }
}

impl Guest {
    /// Answers the requests of one connection.
    fn talk(&self, stream: TcpStream) {
        let Ok(mut connection) = Connection::new(stream) else { return };
        while let Some(head) = connection.next() {
            let (answer, last) = self.handle(&head, &mut connection);
            if !connection.send(&reply(answer), last) || last {
                return;
            }
        }
    }

    /// An answer, and whether the connection ends with it: a body that was not read is still in it.
    fn handle(&self, head: &Head, connection: &mut Connection) -> (Answer, bool) {
        let (path, query) = match self.admit(head) {
            Ok(found) => found,
            Err(refusal) => return (refusal, true),
        };
        // Looked at before the body is read: a stranger cannot make the server take half a gigabyte.
        let most = if path == "drop" { MOST_FILE } else { MOST_BODY };
        let Some(length) = head.body_length().filter(|l| *l <= most) else {
            return (Answer::refuse(413, "too much at once"), true);
        };
        let Some(body) = connection.body(length) else {
            return (Answer::refuse(400, "less came than was said"), true);
        };
        let post = head.method == "POST";
        let asked = Asked { path, query, body: &body, post };
        let answer = match self.page.file(path).filter(|_| !post) {
            Some((kind, bytes)) => Answer::bytes(kind, bytes.into_owned()),
            None => answer(&self.studio, &asked),
        };
        (answer, false)
    }

    /// Who may ask: pages of this very server that know the token. Returns path and query behind the token.
    fn admit<'a>(&self, head: &'a Head) -> Result<(&'a str, &'a str), Answer> {
        let port = self.address.port();
        let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        let is_own = |host: &str| hosts.iter().any(|h| h == host);
        // A name that somebody else's DNS points to the loopback is not ours.
        if !head.header("host").is_some_and(is_own) {
            return Err(Answer::refuse(403, "wrong host"));
        }
        // Not every request has an origin (an address typed by hand has none), so that it is not asked for.
        let foreign = |o: &str| !o.strip_prefix("http://").is_some_and(is_own);
        if head.header("origin").is_some_and(foreign) {
            return Err(Answer::refuse(403, "wrong origin"));
        }
        if head.header("sec-fetch-site").is_some_and(|s| s != "same-origin" && s != "none") {
            return Err(Answer::refuse(403, "asked by another site"));
        }
        let (path, query) = head.target.split_once('?').unwrap_or((&head.target, ""));
        let inside = path.strip_prefix('/').and_then(|p| p.split_once('/'));
        match inside.filter(|(token, _)| same(token.as_bytes(), self.token.as_bytes())) {
            None => Err(Answer::refuse(
                404,
                "nothing here: open the address that `frisson studio` printed",
            )),
            Some(_) if head.method != "GET" && head.method != "POST" => {
                Err(Answer::refuse(405, "only GET and POST"))
            }
            Some((_, rest)) => Ok((rest, query)),
        }
    }
}

/// Whether two strings are the same, in a time that does not tell how much of them is.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |bad, (x, y)| bad | (x ^ y)) == 0
}

fn reply(answer: Answer) -> Reply {
    let headers = vec![
        ("Content-Type", answer.kind),
        ("Cache-Control", "no-store"),
        ("Content-Security-Policy", POLICY),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Referrer-Policy", "no-referrer"),
        ("X-Content-Type-Options", "nosniff"),
    ];
    Reply { status: answer.status, headers, body: answer.bytes }
}
