//! Servers, and the requests that they get.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::programs::{Program, Work};

/// The connections to nginx, and the requests on each.
const CONNECTIONS: usize = 4;
const REQUESTS: usize = 25_000;

pub(crate) fn nginx() -> Program {
    let port = free_port();
    let before = format!(
        "mkdir -p html logs && head -c 20000 /dev/zero | tr '\\0' x >html/index.html && cat >nginx.conf <<END
daemon off; error_log stderr crit; pid nginx.pid; worker_processes 2;
events {{ }}
http {{
    access_log off; keepalive_requests 1000000; client_body_temp_path logs; proxy_temp_path logs;
    fastcgi_temp_path logs; uwsgi_temp_path logs; scgi_temp_path logs;
    gzip on; gzip_types *; gzip_comp_level 1;
    server {{ listen 127.0.0.1:{port}; root html; }}
}}
END"
    );
    let script = "exec nginx -p $PWD -c nginx.conf".to_owned();
    let work = Work::Server { script, port, clients: request };
    Program::server("nginx", &["nginx"], "nginx -v", before, work)
}

pub(crate) fn redis() -> Program {
    let port = free_port();
    let script = format!("exec redis-server --bind 127.0.0.1 --port {port} --save '' --appendonly no");
    let work = Work::Server { script, port, clients: benchmark };
    let needs = &["redis-server", "redis-benchmark"];
    Program::server("redis-server", needs, "redis-server --version", String::new(), work)
}

/// A port that nobody uses.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Waits until a server listens.
pub(crate) fn wait_for(port: u16) {
    let listens = || {
        thread::sleep(Duration::from_millis(20));
        TcpStream::connect(("127.0.0.1", port)).is_ok()
    };
    assert!((0..1000).any(|_| listens()), "no server at port {port}");
}

/// Requests the page of nginx, compressed.
fn request(port: u16) {
    let client = move || {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut answer = vec![0; 1 << 16];
        for _ in 0..REQUESTS {
            stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n").unwrap();
            // The compressed page is sent in chunks, of which the last is empty.
            let mut end = [0; 5];
            while end != *b"0\r\n\r\n" {
                let length = stream.read(&mut answer).unwrap();
                assert!(length > 0, "nginx closed the connection");
                let last = &answer[length.saturating_sub(end.len())..length];
                end.rotate_left(last.len());
                let keep = end.len() - last.len();
                end[keep..].copy_from_slice(last);
            }
        }
    };
    let clients: Vec<_> = (0..CONNECTIONS).map(|_| thread::spawn(client)).collect();
    clients.into_iter().for_each(|client| client.join().unwrap());
}

/// Sends Redis commands of several kinds.
fn benchmark(port: u16) {
    let tests = "set,get,incr,lpush,lpop,sadd,hset,zadd,lrange_100,mset";
    let mut command = Command::new("redis-benchmark");
    command.args(["-p", &port.to_string(), "-n", "60000", "-P", "8", "-q", "-t", tests]);
    assert!(command.stdout(Stdio::null()).status().unwrap().success());
}
