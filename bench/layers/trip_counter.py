# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""A proxy that counts round trips: a client that sends something after it has received."""
import socket
import threading


class TripCounter:
    """In front of a port of this machine. `trips` counts those of all connections."""

    def __init__(self, port):
        self.target = port
        self.trips = 0
        self.mutex = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            server = socket.create_connection(("127.0.0.1", self.target))
            state = {"is_asking": False}
            for source, sink, is_client in ((client, server, True), (server, client, False)):
                source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self.relay, args=(source, sink, is_client, state),
                                 daemon=True).start()

    def relay(self, source, sink, is_client, state):
        try:
            while data := source.recv(65536):
                with self.mutex:
                    if is_client and not state["is_asking"]:
                        self.trips += 1
                    state["is_asking"] = is_client
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:  # one of both has ended
            pass
