"""A terminal and a shell with job control: runs a program that prints the signals that it gets.

Usage: terminal.py PROGRAM ARGUMENT...
Prints what the program prints and what the shell sees, without the numbers of processes.
"""

import os
import pty
import signal
import sys
import termios

READY = "ready"


def shell(command):
    """The first process of the terminal's session. Continues its job: first the whole group, then the process alone."""
    settings = termios.tcgetattr(0)
    settings[3] &= ~termios.ECHO
    termios.tcsetattr(0, termios.TCSANOW, settings)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execv(command[0], command)
    resume = [os.killpg, os.kill]
    while True:
        _, status = os.waitpid(job, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            os.write(1, b"status %d\n" % os.waitstatus_to_exitcode(status))
            os._exit(0)
        os.tcsetpgrp(0, os.getpgrp())
        os.write(1, b"stopped %d\n" % os.WSTOPSIG(status))
        os.tcsetpgrp(0, job)
        resume.pop(0)(job, signal.SIGCONT)


child, terminal = pty.fork()
if child == 0:
    shell(sys.argv[1:])
# A program that never prints what it should must not let the test wait for good.
signal.alarm(300)
output = os.fdopen(terminal, "rb", buffering=0)
pending = b""


def wait_for(beginning):
    """Prints lines until one begins with these words. Returns its numbers."""
    global pending
    while True:
        while b"\n" not in pending:
            try:
                pending += output.read(4096)
            except OSError:
                sys.exit("the terminal ended before: " + beginning)
        line, pending = pending.split(b"\n", 1)
        words = line.decode().split()
        if words[:1] == [READY]:
            print(READY)
        else:
            print(*words)
        if " ".join(words).startswith(beginning):
            return [int(word) for word in words[1:]]


launcher, program = wait_for(READY)
os.write(terminal, b"\x03")
wait_for("signal %d" % signal.SIGINT)
os.write(terminal, b"\x1c")
wait_for("signal %d" % signal.SIGQUIT)
# The launcher takes lower signals first, so whatever it sends for those above is there before this signal.
os.kill(launcher, signal.SIGUSR1)
wait_for("signal %d" % signal.SIGUSR1)
os.write(terminal, b"\x1a")
wait_for("stopped %d" % signal.SIGTSTP)
wait_for("signal %d" % signal.SIGCONT)
os.kill(launcher, signal.SIGUSR2)
wait_for("signal %d" % signal.SIGUSR2)
os.kill(program, signal.SIGSTOP)
wait_for("stopped %d" % signal.SIGSTOP)
wait_for("signal %d" % signal.SIGCONT)
os.kill(launcher, signal.SIGTERM)
wait_for("status")
