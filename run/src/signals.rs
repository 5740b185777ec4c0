//! Which signals to gmon-run are for the program.

use libc::{SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH, SIGXCPU, SIGXFSZ};
use rustix::process::{Pid, getpid};

use crate::system::{Groups, Origin, Received};

/// Signals that a terminal sends to a whole process group: to the program too.
const OF_TERMINAL: [i32; 8] = [SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH];
/// Signals by which the kernel tells gmon-run of what gmon-run itself or a child did.
const CAUSED_BY_GMON_RUN_OR_CHILDREN: [i32; 4] = [SIGCHLD, SIGPIPE, SIGXCPU, SIGXFSZ];
/// Signals that only the first process of a session gets when its terminal is gone.
const OF_LOST_TERMINAL: [i32; 2] = [SIGCONT, SIGHUP];

/// The processes between which signals are sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parties {
    own: i32,
    program: i32,
    /// Whether gmon-run is the first process of its session.
    is_leader: bool,
}

impl Parties {
    /// gmon-run, and the program that it has started.
    pub(crate) fn with(program: Pid) -> Parties {
        let own = getpid().as_raw_nonzero().get();
        Parties { own, program: program.as_raw_nonzero().get(), is_leader: Groups::now().own_session == own }
    }

    /// Whether a signal that gmon-run got is to be sent to the program.
    ///
    /// The kernel sends the signals of a terminal to each process of a group. What the program sends is for its parent,
    /// or is for the whole group, and then the program has it.
    pub(crate) fn is_for_program(self, Received { signal, origin, .. }: Received) -> bool {
        match origin {
            Origin::Process(sender) => sender != self.own && sender != self.program,
            Origin::Kernel if CAUSED_BY_GMON_RUN_OR_CHILDREN.contains(&signal) => false,
            Origin::Kernel if OF_LOST_TERMINAL.contains(&signal) => self.is_leader,
            Origin::Kernel => !OF_TERMINAL.contains(&signal),
        }
    }
}

#[cfg(test)]
mod tests {
    use libc::{SIGALRM, SIGTERM, SIGUSR1};

    use super::*;

    #[test]
    fn signals_reach_the_program_once() {
        let parties = |is_leader| Parties { own: 10, program: 11, is_leader };
        let is_for_program =
            |signal, origin, is_leader| parties(is_leader).is_for_program(Received { signal, origin, value: None });
        for signal in OF_TERMINAL.into_iter().chain([SIGTERM, SIGUSR1, SIGALRM, 40]) {
            for other in [0, 1, 12] {
                assert!(is_for_program(signal, Origin::Process(other), false), "{signal}");
            }
            assert!(!is_for_program(signal, Origin::Process(11), false), "the program's own {signal}");
            assert!(!is_for_program(signal, Origin::Process(10), false), "gmon-run's own {signal}");
        }
        for signal in OF_TERMINAL.into_iter().chain(CAUSED_BY_GMON_RUN_OR_CHILDREN) {
            assert!(!is_for_program(signal, Origin::Kernel, false), "{signal}");
            assert_eq!(is_for_program(signal, Origin::Kernel, true), matches!(signal, SIGHUP | SIGCONT), "{signal}");
        }
        // `alarm` survives the execution of gmon-run.
        assert!(is_for_program(SIGALRM, Origin::Kernel, false));
    }
}
