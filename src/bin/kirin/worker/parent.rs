//! The parent's side of a worker: starts a library in a process of its own and talks to it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::protocol::{Reply, Request};

/// How long a worker that is lost or no longer wanted may take to end.
const FAREWELL: Duration = Duration::from_secs(2);

/// A worker process.
pub struct Worker {
    child: Child,
    requests: Option<ChildStdin>,
    replies: Receiver<String>,
    timeout: Duration,
}

impl Worker {
    /// Starts a worker with environment variables added to our own. Our `KIRIN_TRACE` is left out: it names a trace of the
    /// user's program.
    ///
    /// # Errors
    ///
    /// The process cannot be started.
    pub fn start(variables: &[(String, String)], timeout: Duration) -> std::io::Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("worker")
            .env_remove("KIRIN_TRACE")
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let requests = child.stdin.take();
        let stdout = child.stdout.take().expect("stdout is a pipe");
        let (sender, replies) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self {
            child,
            requests,
            replies,
            timeout,
        })
    }

    /// Sends a request and waits for the reply.
    ///
    /// # Errors
    ///
    /// The process is dead, or does not answer in time and is killed: do not ask it again.
    pub fn ask(&mut self, request: &Request) -> Result<Reply, String> {
        let mut line = serde_json::to_string(request).map_err(|e| e.to_string())?;
        line.push('\n');
        let sent = match &mut self.requests {
            Some(pipe) => pipe.write_all(line.as_bytes()).is_ok(),
            None => false,
        };
        let reply = match sent {
            true => self.replies.recv_timeout(self.timeout + request.duration()),
            false => Err(RecvTimeoutError::Disconnected),
        };
        match reply {
            Ok(line) => serde_json::from_str(&line).map_err(|e| format!("bad reply: {e}")),
            Err(RecvTimeoutError::Disconnected) => Err(self.cause_of_death()),
            Err(RecvTimeoutError::Timeout) => {
                self.kill();
                Err(format!("no answer within {} s", self.timeout.as_secs_f64()))
            }
        }
    }

    fn cause_of_death(&mut self) -> String {
        match self.end(FAREWELL) {
            Some(status) => describe(status, ""),
            None => "its pipe is closed".to_owned(),
        }
    }

    /// Lets the process end, and tells what went wrong with that.
    ///
    /// # Errors
    ///
    /// It ended with a crash or a status of its own, or had to be killed.
    pub fn dismiss(mut self) -> Result<(), String> {
        self.requests = None; // the end of its stdin is the worker's sign to leave
        match self.end(self.timeout) {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(describe(status, " at its exit")),
            None => Err(format!(
                "did not end within {} s of its last request",
                self.timeout.as_secs_f64()
            )),
        }
    }

    /// The exit status, if the process ends within `patience`.
    fn end(&mut self, patience: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + patience;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                _ => return None,
            }
        }
    }

    fn kill(&mut self) {
        // Fails only if the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.requests = None;
        if self.end(FAREWELL).is_none() {
            self.kill();
        }
    }
}

fn describe(status: ExitStatus, when: &str) -> String {
    use std::os::unix::process::ExitStatusExt;
    let name = |signal| match signal {
        libc::SIGSEGV => "segmentation fault".to_owned(),
        libc::SIGABRT => "abort".to_owned(),
        libc::SIGBUS => "bus error".to_owned(),
        libc::SIGFPE => "arithmetic error".to_owned(),
        libc::SIGILL => "illegal instruction".to_owned(),
        libc::SIGKILL => "killed".to_owned(),
        other => format!("signal {other}"),
    };
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("crashed{when}: {}", name(signal)),
        (None, Some(code)) => format!("ended its process with status {code}{when}"),
        (None, None) => "ended".to_owned(),
    }
}
