# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""A private Redis server, and its statistics about its clients."""
import ctypes
import os
import re
import signal
import socket
import subprocess
import time
from collections import Counter

LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1


def die_with_parent():
    """In the child: no process may outlive the bench, not even a stopped server."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Connection:
    """One connection."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.replies = self.socket.makefile("rb")

    def send(self, *words):
        parts = [f"*{len(words)}\r\n".encode()]
        for word in words:
            data = str(word).encode()
            parts.append(b"$%d\r\n%s\r\n" % (len(data), data))
        self.socket.sendall(b"".join(parts))

    def reply(self):
        line = self.replies.readline()
        kind, rest = line[:1], line[1:].decode().rstrip("\r\n")
        if kind == b"$":
            size = int(rest)
            return None if size < 0 else self.replies.read(size + 2)[:-2].decode()
        if kind == b":":
            return int(rest)
        if kind == b"+":
            return rest
        if kind == b"*":
            return [self.reply() for _ in range(int(rest))]
        raise RuntimeError(f"unexpected reply: {line!r}")

    def call(self, *words):
        self.send(*words)
        return self.reply()

    def close(self):
        self.replies.close()
        self.socket.close()


class Server:
    def __init__(self, folder):
        self.folder = folder
        for _ in range(20):
            self.port = free_port()
            with open(folder / "redis.log", "wb") as log:
                self.process = subprocess.Popen(
                    ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
                     "--dir", str(folder)], stdout=log, stderr=log, preexec_fn=die_with_parent)
            if self._is_ready():
                self.connection = Connection(self.port)
                return
        raise SystemExit("redis-server does not start; its log ends with:\n"
                         + (folder / "redis.log").read_text()[-2000:])

    def _is_ready(self):
        end = time.monotonic() + 10
        while self.process.poll() is None and time.monotonic() < end:
            try:
                connection = Connection(self.port)
            except OSError:
                time.sleep(0.02)
                continue
            # Another program may have taken the port first.
            is_own = f"process_id:{self.process.pid}\r" in connection.call("INFO", "server")
            connection.close()
            if is_own:
                return True
            break
        self.process.kill()
        self.process.wait()
        return False

    def stop(self):
        self.process.kill()
        self.process.wait()

    def freeze(self):
        os.kill(self.process.pid, signal.SIGSTOP)

    def thaw(self):
        os.kill(self.process.pid, signal.SIGCONT)

    def info(self, section, field):
        text = self.connection.call("INFO", section)
        match = re.search(rf"^{field}:(.*?)\r?$", text, re.MULTILINE)
        return match[1]

    def processor_seconds(self):
        return float(self.info("cpu", "used_cpu_user")) + float(self.info("cpu", "used_cpu_sys"))

    def reset_statistics(self):
        self.connection.call("CONFIG", "RESETSTAT")

    def microseconds_per_call(self):
        """The mean time of each command since reset_statistics()."""
        text = self.connection.call("INFO", "commandstats")
        return {name: int(usec) / int(calls) for name, calls, usec in
                re.findall(r"cmdstat_([^:]+):calls=(\d+),usec=(\d+)", text)}

    def remaining_ms(self, keys):
        """The remaining time of each key, all requested at once."""
        for key in keys:
            self.connection.send("PTTL", key)
        return [self.connection.reply() for _ in keys]


class Monitor:
    """Counts the commands that the server executes: those of clients, and those of scripts."""

    LINE = re.compile(r'^[\d.]+ \[\d+ ([^\]]+)\] "([^"]*)"(?: "([^"]*)")?')

    def __init__(self, server):
        self.monitoring = Connection(server.port)
        self.marking = Connection(server.port)
        self.monitoring.call("MONITOR")

    def counts(self):
        """(sent, scripted), each by the command's name, since MONITOR began. Ends it."""
        self.marking.call("ECHO", "the end")
        sent, scripted = Counter(), Counter()
        while True:
            source, command, argument = self.LINE.match(self.monitoring.reply()).groups()
            if (command, argument) == ("ECHO", "the end"):
                break
            (scripted if source == "lua" else sent)[command.lower()] += 1
        self.monitoring.close()
        self.marking.close()
        del sent["ping"]  # a pool's maintenance of its idle connections
        return sent, scripted
