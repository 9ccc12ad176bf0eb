# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""A Redis Cluster without replicas."""
from sentinels import Process, wait_for
from server import free_port

SLOTS = 16384


class Cluster:
    def __init__(self, folder, masters):
        self.masters = []
        for i in range(masters):
            self.masters.append(Process(folder / f"node{i}", [
                "cluster-enabled yes", f"cluster-port {free_port()}"]))
        for i, each in enumerate(self.masters):
            each.call("CLUSTER", "SET-CONFIG-EPOCH", i + 1)
            each.call("CLUSTER", "ADDSLOTSRANGE", i * SLOTS // masters,
                      (i + 1) * SLOTS // masters - 1)
            for other in self.masters[:i]:
                bus = other.call("CONFIG", "GET", "cluster-port")[1]
                each.call("CLUSTER", "MEET", "127.0.0.1", other.port, bus)
        wait_for(lambda: all(self._is_ready(each) for each in self.masters),
                 "the meeting of the nodes")

    def _is_ready(self, node):
        info = node.call("CLUSTER", "INFO")
        return ("cluster_state:ok" in info
                and f"cluster_known_nodes:{len(self.masters)}\r" in info)

    def url(self):
        return "redis+cluster://" + ",".join(f"127.0.0.1:{each.port}" for each in self.masters)

    def stop(self):
        for each in self.masters:
            each.kill()
