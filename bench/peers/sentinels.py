# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""A master with a replica, and three Sentinels that monitor it."""
import select
import subprocess
import time

from server import Connection, die_with_parent, free_port

MASTER = "orders"
SENTINELS = 3


def wait_for(condition, what, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if condition():
                return
        except (OSError, RuntimeError):
            pass  # it starts, or its connections were ended by a promotion
        time.sleep(0.01)
    raise SystemExit(f"{what} did not happen within {seconds} s")


class Process:
    """A server or a Sentinel, with a folder of its own."""

    def __init__(self, folder, lines, *arguments):
        self.port = free_port()
        folder.mkdir()
        (folder / "conf").write_text("\n".join(
            ["bind 127.0.0.1", f"port {self.port}", f"dir {folder}", 'save ""', *lines]) + "\n")
        with open(folder / "log", "wb") as log:
            self.process = subprocess.Popen(
                ["redis-server", str(folder / "conf"), *arguments], stdout=log, stderr=log,
                preexec_fn=die_with_parent)
        wait_for(lambda: self.call("PING"), "the start of a server")

    def call(self, *words):
        connection = Connection(self.port)
        try:
            return connection.call(*words)
        finally:
            connection.close()

    def kill(self):
        self.process.kill()
        self.process.wait()


class Group:
    def __init__(self, folder):
        self.processes = []
        self.master = self._start(folder / "master", [])
        self.replica = self._start(folder / "replica", [
            f"replicaof 127.0.0.1 {self.master.port}", "replica-read-only no"])
        at = f"{MASTER} 127.0.0.1"
        lines = [f"sentinel monitor {at} {self.master.port} 2",
                 f"sentinel down-after-milliseconds {MASTER} 1000",
                 f"sentinel failover-timeout {MASTER} 10000",
                 f"sentinel known-replica {at} {self.replica.port}"]
        self.sentinels = [self._start(folder / f"sentinel{i}", lines, "--sentinel")
                          for i in range(SENTINELS)]
        wait_for(lambda: "master_link_status:up" in self.replica.call("INFO", "replication"),
                 "the replication")
        wait_for(lambda: all(self._knows_the_others(each) for each in self.sentinels),
                 "the meeting of the Sentinels")

    def _start(self, folder, lines, *arguments):
        started = Process(folder, lines, *arguments)
        self.processes.append(started)
        return started

    @staticmethod
    def _knows_the_others(sentinel):
        words = sentinel.call("SENTINEL", "MASTER", MASTER)
        fields = dict(zip(words[::2], words[1::2]))
        return fields["num-other-sentinels"] == str(SENTINELS - 1)

    def place(self):
        """As the drivers expect it."""
        return f"sentinel:{','.join(str(each.port) for each in self.sentinels)}/{MASTER}"

    def switch(self, kind):
        """The time of the first announcement. planned: a Sentinel is told to fail over. crash: the
        master is killed."""
        listening = []
        for each in self.sentinels:
            connection = Connection(each.port)
            connection.call("SUBSCRIBE", "+switch-master")
            connection.socket.settimeout(None)
            listening.append(connection)
        if kind == "planned":
            wait_for(lambda: self.sentinels[0].call("SENTINEL", "FAILOVER", MASTER),
                     "the failover's begin")
        else:
            self.master.kill()
        ready, _, _ = select.select([each.socket for each in listening], [], [], 30)
        when = time.monotonic()
        for each in listening:
            each.close()
        if not ready:
            raise SystemExit("no Sentinel announced a switch within 30 s")
        return when

    def stop(self):
        for each in self.processes:
            each.kill()
