//! The server: on the loopback only, for pages that know the token.
//!
//! Plain requests are all it needs: the page asks for a frame when it has drawn one, and waits for news
//! with a request that is answered when there are any. So there is no socket protocol beside HTTP, and
//! `tiny_http` is the whole of the server (a tenth of the code of an asynchronous one, and as fast in the
//! browser: drawing is what takes the time).

use std::io::{Cursor, Read as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tiny_http::{Header, Method, Request, Response, Server, StatusCode};

use crate::page::Page;
use crate::routes::{Answer, Asked, answer};
use crate::studio::Studio;

/// Requests answered at the same time; more are turned away.
const MOST_REQUESTS: usize = 64;
/// Most that a page may send [bytes]: a text or an edit.
const MOST_BODY: usize = 8 << 20;
/// Most that a file dropped on the page may have [bytes].
const MOST_FILE: usize = 512 << 20;

/// Nothing but the page's own files is loaded or run, whatever a scene says.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
    img-src 'self' blob: data:; connect-src 'self'; media-src blob:; worker-src 'none'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A server that listens.
pub struct Served {
    server: Server,
    studio: Arc<Studio>,
    page: Page,
    token: String,
    address: SocketAddr,
}

impl Served {
    /// Listens on the loopback; port 0 takes any that is free.
    pub fn bind(studio: Arc<Studio>, port: u16, page: Page) -> Result<Self, String> {
        let wanted = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let server = Server::http(wanted).map_err(|e| format!("cannot listen on {wanted}: {e}"))?;
        let address = server.server_addr().to_ip().ok_or("the server has no address")?;
        let mut random = [0u8; 16];
        getrandom::fill(&mut random).map_err(|e| format!("no random numbers: {e}"))?;
        let token = random.iter().map(|b| format!("{b:02x}")).collect();
        Ok(Self { server, studio, page, token, address })
    }

    /// The page's address, token included.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/{}/", self.address, self.token)
    }

    /// Answers until the process ends.
    pub fn run(self) {
        let own = Arc::new(self);
        let busy = Arc::new(AtomicUsize::new(0));
        for request in own.server.incoming_requests() {
            if busy.fetch_add(1, Ordering::SeqCst) >= MOST_REQUESTS {
                busy.fetch_sub(1, Ordering::SeqCst);
                respond(request, Answer::refuse(503, "too many requests at once"));
                continue;
            }
            let (own, busy) = (Arc::clone(&own), Arc::clone(&busy));
            std::thread::spawn(move || {
                own.handle(request);
                busy.fetch_sub(1, Ordering::SeqCst);
            });
        }
    }

    fn handle(&self, mut request: Request) {
        let answer = match self.admit(&request) {
            Err(refusal) => refusal,
            Ok((path, query)) => match read_body(&mut request, &path) {
                Err(refusal) => refusal,
                Ok(body) => {
                    let post = *request.method() == Method::Post;
                    let asked = Asked { path: &path, query: &query, body: &body, post };
                    match self.page.file(&path).filter(|_| !post) {
                        Some((kind, bytes)) => Answer::bytes(kind, bytes.into_owned()),
                        None => answer(&self.studio, &asked),
                    }
                }
            },
        };
        respond(request, answer);
    }

    /// Who may ask: pages of this very server that know the token. Returns the path behind the token.
    fn admit(&self, request: &Request) -> Result<(String, String), Answer> {
        let header = |name: &'static str| {
            let found = request.headers().iter().find(|h| h.field.equiv(name));
            found.map(|h| h.value.as_str().to_owned())
        };
        let port = self.address.port();
        let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        // A name that somebody else's DNS points to the loopback is not ours.
        if !header("Host").is_some_and(|h| hosts.contains(&h)) {
            return Err(Answer::refuse(403, "wrong host"));
        }
        if header("Origin").is_some_and(|o| !hosts.iter().any(|h| o == format!("http://{h}"))) {
            return Err(Answer::refuse(403, "wrong origin"));
        }
        let site = header("Sec-Fetch-Site");
        if site.is_some_and(|s| s != "same-origin" && s != "none") {
            return Err(Answer::refuse(403, "asked by another site"));
        }
        let (path, query) = request.url().split_once('?').unwrap_or((request.url(), ""));
        let mut parts = path.strip_prefix('/').unwrap_or_default().splitn(2, '/');
        let given = parts.next().unwrap_or_default();
        if !same(given.as_bytes(), self.token.as_bytes()) {
            return Err(Answer::refuse(404, "nothing here: open the address that `frisson studio` printed"));
        }
        let rest = parts.next().ok_or_else(|| Answer::refuse(404, "nothing here"))?;
        match request.method() {
            Method::Get | Method::Post => Ok((rest.to_owned(), query.to_owned())),
            _ => Err(Answer::refuse(405, "only GET and POST")),
        }
    }
}

/// Whether two strings are the same, in a time that does not tell how much of them is.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |bad, (x, y)| bad | (x ^ y)) == 0
}

fn read_body(request: &mut Request, path: &str) -> Result<Vec<u8>, Answer> {
    let most = if path == "drop" { MOST_FILE } else { MOST_BODY };
    let too_much = || Answer::refuse(413, "too much at once");
    if request.body_length().is_some_and(|length| length > most) {
        return Err(too_much());
    }
    let mut body = Vec::new();
    let reader = request.as_reader();
    let read = reader.take(most as u64 + 1).read_to_end(&mut body);
    if read.is_err() || body.len() > most {
        return Err(too_much());
    }
    Ok(body)
}

fn respond(request: Request, answer: Answer) {
    let length = answer.bytes.len();
    let mut response = Response::new(
        StatusCode(answer.status),
        Vec::new(),
        Cursor::new(answer.bytes),
        Some(length),
        None,
    )
    // Chunks would be copied through a small buffer.
    .with_chunked_threshold(usize::MAX);
    let headers = [
        ("Content-Type", answer.kind),
        ("Cache-Control", "no-store"),
        ("Content-Security-Policy", POLICY),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Referrer-Policy", "no-referrer"),
        ("X-Content-Type-Options", "nosniff"),
    ];
    for (name, value) in headers {
        if let Ok(header) = Header::from_bytes(name, value) {
            response.add_header(header);
        }
    }
    // A page that went away needs no answer.
    let _ = request.respond(response);
}
