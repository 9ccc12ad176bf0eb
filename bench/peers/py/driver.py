# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""Drives redis-py, pottery or python-redis-lock for ../run.py: one command a line, one JSON object
a line in reply. ../README.md describes the commands.
"""
import json
import logging
import platform
import random
import sys
import threading
import time
from importlib.metadata import version

import pottery
import redis
import redis_lock

HOLD_FOR = 30
USERS = 64
output = threading.Lock()


def write_line(line):
    with output:
        print(json.dumps(line), flush=True)


def connect(port):
    # Without a timeout on the socket: python-redis-lock blocks in the server for as long as its
    # ttl.
    pool = redis.ConnectionPool(host="127.0.0.1", port=port, max_connections=USERS + 8,
                                socket_timeout=None)
    return redis.Redis(connection_pool=pool)


class RedisPy:
    version = "redis-py " + version("redis")
    poll_interval = 0.1  # its default

    def client(self, port):
        return connect(port)

    def acquire(self, server, name):
        lock = server.lock(name, timeout=HOLD_FOR)
        lock.acquire()
        return lock

    def watch(self, port, name, ttl, on_loss):
        """It has neither renewal nor a signal: the program extends, and sees whether that fails.

        With redis-py's own default timeout of the socket, as in a program that extends.
        """
        lock = redis.Redis(port=port).lock(name, timeout=ttl, thread_local=False)
        lock.acquire()

        def extend():
            try:
                while True:
                    time.sleep(ttl / 3)
                    lock.reacquire()
            except redis.exceptions.RedisError as problem:
                on_loss(f"the program's own reacquire() fails: {type(problem).__name__}")

        threading.Thread(target=extend, daemon=True).start()
        return name


class Pottery:
    """Only over several servers: `port` is "redlock:PORT,PORT,…"."""
    version = "pottery " + version("pottery")
    poll_interval = 0.2  # its default is a random pause up to that

    def client(self, port):
        return {connect(int(each)) for each in port.removeprefix("redlock:").split(",")}

    def acquire(self, servers, name):
        lock = pottery.Redlock(key=name, masters=servers, auto_release_time=HOLD_FOR)
        if not lock.acquire():
            raise RuntimeError(f"pottery did not acquire {name}")
        return lock


class PythonRedisLock:
    version = "python-redis-lock " + version("python-redis-lock")
    poll_interval = 0

    def __init__(self):
        logging.getLogger("redis_lock").setLevel(logging.ERROR)

    def client(self, port):
        return connect(port)

    def acquire(self, server, name, ttl=HOLD_FOR):
        lock = redis_lock.Lock(server, name, expire=ttl, auto_renewal=True)
        lock.acquire()
        return lock

    def watch(self, port, name, ttl, on_loss):
        """Its thread renews. It has no signal; Python reports the end of that thread."""
        threading.excepthook = lambda problem: on_loss(
            f"its renewing thread ends: {problem.exc_type.__name__}, seen by threading.excepthook")
        self.watched = self.acquire(redis.Redis(port=port), name, int(ttl))
        return "lock:" + name


class Round:
    """Users of one name pass it round: a user asks again only after another user has it."""

    def __init__(self):
        self.next = threading.Condition()
        self.turn = 0
        self.over = False
        self.released = None
        self.times_us = []

    def run_user(self, locks, server, name, pause):
        while True:
            lock = locks.acquire(server, name)
            now = time.perf_counter_ns()
            with self.next:
                if self.released and not self.over:
                    self.times_us.append((now - self.released) / 1e3)
                self.turn += 1
                own_turn = self.turn
                over = self.over
                self.next.notify_all()
            if over:
                lock.release()
                return
            time.sleep(pause())
            self.released = time.perf_counter_ns()
            lock.release()
            with self.next:
                self.next.wait_for(lambda: self.turn != own_turn or self.over)
                if self.over:
                    return

    def stop(self):
        with self.next:
            self.over = True
            self.next.notify_all()


class Driver:
    def __init__(self, locks, port):
        self.locks = locks
        self.port = port
        self.clients = []
        self.held = {}

    def client(self, number):
        while len(self.clients) <= number:
            self.clients.append(self.locks.client(self.port))
        return self.clients[number]

    def start_threads(self, calls):
        threads = [threading.Thread(target=call) for call in calls]
        for each in threads:
            each.start()
        return threads

    def pairs(self, users, seconds):
        server = self.client(0)
        counts = [0] * users
        times_us = []
        began = time.perf_counter_ns()
        end = began + int(seconds * 1e9)

        def run_user(user):
            name = f"pair/{user}"
            before = time.perf_counter_ns()
            while before < end:
                self.locks.acquire(server, name).release()
                now = time.perf_counter_ns()
                if users == 1:
                    times_us.append((now - before) / 1e3)
                before = now
                counts[user] += 1

        for each in self.start_threads([lambda user=user: run_user(user) for user in range(users)]):
            each.join()
        spent = (time.perf_counter_ns() - began) / 1e9
        return {"pairs": sum(counts), "seconds": spent, "us": times_us}

    def handoff(self, users, clients, seconds):
        hand_round = Round()
        spread = max(0.01, self.locks.poll_interval) if users == 2 else 0.01

        def pause():
            return 0.002 + random.uniform(0, spread)

        threads = self.start_threads([lambda user=user: hand_round.run_user(
            self.locks, self.client(user % clients), "hand", pause) for user in range(users)])
        time.sleep(seconds)
        hand_round.stop()
        for each in threads:
            each.join()
        return {"us": hand_round.times_us}

    def wait(self, name):
        self.locks.acquire(self.client(1), name).release()
        write_line({"got": name})

    def execute(self, verb, *rest):
        if verb == "pairs":
            return self.pairs(int(rest[0]), float(rest[1]))
        if verb == "handoff":
            for number in range(int(rest[1])):
                self.client(number)
            return self.handoff(int(rest[0]), int(rest[1]), float(rest[2]))
        if verb == "take":
            self.held[rest[0]] = self.locks.acquire(self.client(0), rest[0])
        elif verb == "give":
            self.held.pop(rest[0]).release()
        elif verb == "wait":
            threading.Thread(target=self.wait, args=rest, daemon=True).start()
        elif verb == "watch":
            return {"key": self.locks.watch(self.port, rest[0], int(rest[1]) / 1000,
                                            lambda signal: write_line({"lost": signal}))}
        else:
            raise ValueError(f"unknown command {verb}")
        return {"ok": True}


def main(library, port):
    locks = {"redis-py": RedisPy, "pottery": Pottery,
             "python-redis-lock": PythonRedisLock}[library]()
    driver = Driver(locks, int(port) if port.isdigit() else port)
    write_line({"version": locks.version.split()[1], "warm": 0.5,
         "runtime": f"Python {platform.python_version()}, hiredis {version('hiredis')}"})
    for line in sys.stdin:
        if line.strip() == "quit":
            return
        write_line(driver.execute(*line.split()))


main(*sys.argv[1:])
