"""A Redis server of the bench's own, and what it can tell of its clients."""
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
    """In the child: nothing may outlive the bench, not even a stopped server."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Wire:
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
        raise RuntimeError(f"the server says: {line!r}")

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
            if self._answers():
                self.wire = Wire(self.port)
                return
        raise SystemExit("redis-server does not start; its last words:\n"
                         + (folder / "redis.log").read_text()[-2000:])

    def _answers(self):
        end = time.monotonic() + 10
        while self.process.poll() is None and time.monotonic() < end:
            try:
                wire = Wire(self.port)
            except OSError:
                time.sleep(0.02)
                continue
            # Another program may have got the port first.
            mine = f"process_id:{self.process.pid}\r" in wire.call("INFO", "server")
            wire.close()
            if mine:
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
        found = re.search(rf"^{field}:(.*?)\r?$", self.wire.call("INFO", section), re.MULTILINE)
        return found[1]

    def processor_seconds(self):
        return float(self.info("cpu", "used_cpu_user")) + float(self.info("cpu", "used_cpu_sys"))

    def forget_commands(self):
        self.wire.call("CONFIG", "RESETSTAT")

    def microseconds_per_call(self):
        """Of each command since forget_commands()."""
        text = self.wire.call("INFO", "commandstats")
        return {name: int(usec) / int(calls) for name, calls, usec in
                re.findall(r"cmdstat_([^:]+):calls=(\d+),usec=(\d+)", text)}

    def left_ms(self, keys):
        """How long each key has yet to live, all asked for at once."""
        for key in keys:
            self.wire.send("PTTL", key)
        return [self.wire.reply() for _ in keys]


class Monitor:
    """Counts what the server carries out: what clients sent, and what scripts did with that."""

    LINE = re.compile(r'^[\d.]+ \[\d+ ([^\]]+)\] "([^"]*)"(?: "([^"]*)")?')

    def __init__(self, server):
        self.eyes = Wire(server.port)
        self.voice = Wire(server.port)
        self.eyes.call("MONITOR")

    def counts(self):
        """(sent, scripted), each by the command's name, since MONITOR began. Ends it."""
        self.voice.call("ECHO", "the end")
        sent, scripted = Counter(), Counter()
        while True:
            who, command, argument = self.LINE.match(self.eyes.reply()).groups()
            if (command, argument) == ("ECHO", "the end"):
                break
            (scripted if who == "lua" else sent)[command.lower()] += 1
        self.eyes.close()
        self.voice.close()
        del sent["ping"]  # a pool's care for its idle connections
        return sent, scripted
