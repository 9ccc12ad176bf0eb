# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""The peers, and the processes that drive them."""
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from server import die_with_parent

HERE = Path(__file__).resolve().parent
TIMEOUT = 60  # s; a driver that writes nothing for longer has failed


@dataclass
class Peer:
    name: str
    language: str
    kind: str  # the driver's first argument
    pawl: bool = False
    renewal: str = ""  # the mechanism that renews the lease, and the one that reports a loss


PEERS = [
    Peer("Pawl", "pawl", "coroutines", True, "renews at ttl/3; lost()"),
    Peer("Pawl, threads", "pawl", "threads", True, "renews at ttl/3; lost()"),
    Peer("Pawl, layout=redisson", "pawl", "redisson", True, "renews at ttl/3; lost()"),
    Peer("Redisson RLock", "java", "RLock", renewal="watchdog at ttl/3; no signal"),
    Peer("Redisson FencedLock", "java", "FencedLock", renewal="watchdog at ttl/3; no signal"),
    Peer("rueidislock", "go", "rueidislock", renewal="renews at ttl/2; its context is cancelled"),
    Peer("redsync", "go", "redsync",
         renewal="the program calls Extend() at ttl/3, and watches Until() by a timer of its own"),
    Peer("node-redlock", "js", "node-redlock", renewal="using() renews 0.5 s before the end; "
                                                       "its AbortSignal"),
    Peer("redis-semaphore", "js", "redis-semaphore", renewal="renews at 0.8 ttl; onLockLost"),
    Peer("redis-py Lock", "py", "redis-py",
         renewal="the program calls reacquire() at ttl/3, and sees it fail"),
    Peer("python-redis-lock", "py", "python-redis-lock",
         renewal="auto_renewal at 2/3 ttl; no signal, its thread dies of an exception"),
]

# Those that have a mode for several independent servers.
PEERS_OF_REDLOCK = [
    Peer("Pawl", "pawl", "coroutines", True),
    Peer("redsync", "go", "redsync"),
    Peer("node-redlock", "js", "node-redlock"),
    Peer("pottery", "py", "pottery"),
    Peer("RedissonRedLock", "java", "RedLock"),
]


class Languages:
    """The command that starts each language's driver, and the reason why it cannot start."""

    def __init__(self, build):
        peers, redisson = build / "bench/peers", build / "interop/redisson/lib"
        modules = build / "tests/interop_plain/js/node_modules"
        self.commands = {
            "pawl": [str(build / "bench/pawl_peer")],
            "java": ["java", "-cp", f"{redisson}/*:{peers / 'java'}", "Driver"],
            "go": [str(peers / "go/peer")],
            "js": ["node", str(HERE / "js/driver.js")],
            "py": [sys.executable, str(HERE / "py/driver.py")],
        }
        self.environment = {"js": {"NODE_PATH": str(modules)},
                            "py": {"PYTHONPATH": str(peers / "py")}}
        self.needed = {"pawl": build / "bench/pawl_peer", "java": peers / "java/Driver.class",
                       "go": peers / "go/peer", "js": modules / "redlock",
                       "py": peers / "py/redis_lock"}

    def missing_reason(self, language):
        """Empty if the driver can be started."""
        program = self.commands[language][0]
        if not os.path.isabs(program) and shutil.which(program) is None:
            return f"there is no {program}"
        if not self.needed[language].exists():
            return "it is not installed; `./dev bench peers` installs it and reports errors"
        return ""


class DriverFailed(Exception):
    def __init__(self, peer, why):
        super().__init__(why)
        self.peer = peer


class PeerTooSlow(DriverFailed):
    """The driver lives, but its library does not come back, or not in time."""


class Driver:
    """One process that drives one peer. Each line has the time of its receipt."""

    def __init__(self, peer, languages, place, folder):
        """`place`: the server's port, "sentinel:PORT,PORT,…/MASTER" or "redlock:PORT,PORT,…"."""
        self.peer = peer
        self.log = folder / f"{peer.language}-{peer.kind}.log"
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*languages.commands[peer.language], peer.kind, str(place)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
                env=os.environ | languages.environment.get(peer.language, {}),
                preexec_fn=die_with_parent)
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        try:
            self.hello = self.next()[1]
        except DriverFailed:
            self.kill()
            raise

    def _read(self):
        for line in self.process.stdout:
            self.lines.put((time.monotonic(), line))
        self.lines.put((time.monotonic(), None))

    def next(self, timeout=TIMEOUT):
        """(time, object) of the next line; (None, None) when none comes in time."""
        try:
            when, line = self.lines.get(timeout=timeout)
        except queue.Empty:
            if timeout < TIMEOUT:
                return None, None
            raise PeerTooSlow(self.peer, f"no reply for {TIMEOUT} s") from None
        if line is None:
            output = self.log.read_text(errors="replace").strip()[-1500:] or "without output"
            raise DriverFailed(self.peer, f"its driver ended: {output}")
        return when, json.loads(line)

    def send(self, command):
        try:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # `next` gives the reason

    def execute(self, command):
        self.send(command)
        return self.next()[1]

    def quit(self):
        self.send("quit")
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            pass
        self.kill()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stdin.close()
        self.process.stdout.close()
