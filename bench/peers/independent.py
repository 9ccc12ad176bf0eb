# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""Five independent servers for Redlock, near by or behind proxies that delay."""
import os
import signal
import subprocess

from sentinels import Process
from server import die_with_parent

NODES = 5
MAJORITY = NODES // 2 + 1


class Independent:
    def __init__(self, folder, program, delays_ms=()):
        """`delays_ms`: what is added to a round trip to each server. Without it: no proxy."""
        self.masters = [Process(folder / f"node{i}", []) for i in range(NODES)]
        self.ports = [each.port for each in self.masters]
        self.proxy = None
        if delays_ms:
            targets = [f"{port}:{int(delay * 1000)}"
                       for port, delay in zip(self.ports, delays_ms)]
            self.proxy = subprocess.Popen([program, "worker", "delay", *targets], text=True,
                                          stdout=subprocess.PIPE, preexec_fn=die_with_parent)
            self.ports = [int(word) for word in self.proxy.stdout.readline().split()]
        subprocess.run([program, "worker", "redlock-init", self.url()], check=True)
        self.failed = []

    def url(self):
        return "redlock://" + ",".join(f"127.0.0.1:{port}" for port in self.ports)

    def place(self):
        """As the drivers expect it."""
        return "redlock:" + ",".join(str(port) for port in self.ports)

    def fail(self, kind):
        """The next server is killed or frozen."""
        number = len(self.failed)
        self.failed.append(number)
        if kind == "killed":
            self.masters[number].kill()
        else:
            os.kill(self.masters[number].process.pid, signal.SIGSTOP)

    def answering_ports(self):
        return [port for number, port in enumerate(self.ports) if number not in self.failed]

    def stop(self):
        for each in self.masters:
            each.kill()
        if self.proxy:
            self.proxy.kill()
            self.proxy.wait()
            self.proxy.stdout.close()
