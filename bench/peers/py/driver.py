"""Drives redis-py or python-redis-lock for ../run.py: one command a line, one JSON object a line
back. ../README.md says what the commands are.
"""
import json
import logging
import platform
import random
import sys
import threading
import time
from importlib.metadata import version

import redis
import redis_lock

HOLD_FOR = 30
USERS = 64
output = threading.Lock()


def say(line):
    with output:
        print(json.dumps(line), flush=True)


def server_at(port):
    # Without a limit on the socket: python-redis-lock blocks in the server for as long as its ttl.
    pool = redis.ConnectionPool(host="127.0.0.1", port=port, max_connections=USERS + 8,
                                socket_timeout=None)
    return redis.Redis(connection_pool=pool)


class RedisPy:
    version = "redis-py " + version("redis")
    polls = 0.1  # its default

    def client(self, port):
        return server_at(port)

    def acquire(self, server, name):
        lock = server.lock(name, timeout=HOLD_FOR)
        lock.acquire()
        return lock

    def watch(self, port, name, ttl, lost):
        """It has no renewal and no signal: the program extends, and sees whether that fails.

        With redis-py's own default limit on the socket, as a program that extends would have it.
        """
        lock = redis.Redis(port=port).lock(name, timeout=ttl, thread_local=False)
        lock.acquire()

        def extend():
            try:
                while True:
                    time.sleep(ttl / 3)
                    lock.reacquire()
            except redis.exceptions.RedisError as problem:
                lost(f"the program's own reacquire() fails: {type(problem).__name__}")

        threading.Thread(target=extend, daemon=True).start()
        return name


class PythonRedisLock:
    version = "python-redis-lock " + version("python-redis-lock")
    polls = 0

    def __init__(self):
        logging.getLogger("redis_lock").setLevel(logging.ERROR)

    def client(self, port):
        return server_at(port)

    def acquire(self, server, name, ttl=HOLD_FOR):
        lock = redis_lock.Lock(server, name, expire=ttl, auto_renewal=True)
        lock.acquire()
        return lock

    def watch(self, port, name, ttl, lost):
        """Its thread renews. It has no signal; what ends that thread, Python reports."""
        threading.excepthook = lambda problem: lost(
            f"its renewing thread ends: {problem.exc_type.__name__}, seen by threading.excepthook")
        self.watched = self.acquire(redis.Redis(port=port), name, int(ttl))
        return "lock:" + name


class Round:
    """Users of one name hand it round: who has released asks again when another one has it."""

    def __init__(self):
        self.next = threading.Condition()
        self.turn = 0
        self.over = False
        self.released = None
        self.taken = []

    def play(self, locks, server, name, pause):
        while True:
            lock = locks.acquire(server, name)
            now = time.perf_counter_ns()
            with self.next:
                if self.released and not self.over:
                    self.taken.append((now - self.released) / 1e3)
                self.turn += 1
                mine = self.turn
                over = self.over
                self.next.notify_all()
            if over:
                lock.release()
                return
            time.sleep(pause())
            self.released = time.perf_counter_ns()
            lock.release()
            with self.next:
                self.next.wait_for(lambda: self.turn != mine or self.over)
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

    def crowd(self, calls):
        threads = [threading.Thread(target=call) for call in calls]
        for each in threads:
            each.start()
        return threads

    def pairs(self, users, seconds):
        server = self.client(0)
        counts = [0] * users
        taken = []
        began = time.perf_counter_ns()
        end = began + int(seconds * 1e9)

        def play(user):
            name = f"pair/{user}"
            before = time.perf_counter_ns()
            while before < end:
                self.locks.acquire(server, name).release()
                now = time.perf_counter_ns()
                if users == 1:
                    taken.append((now - before) / 1e3)
                before = now
                counts[user] += 1

        for each in self.crowd([lambda user=user: play(user) for user in range(users)]):
            each.join()
        spent = (time.perf_counter_ns() - began) / 1e9
        return {"pairs": sum(counts), "seconds": spent, "us": taken}

    def handoff(self, users, clients, seconds):
        game = Round()
        spread = max(0.01, self.locks.polls) if users == 2 else 0.01

        def pause():
            return 0.002 + random.uniform(0, spread)

        players = self.crowd([lambda user=user: game.play(
            self.locks, self.client(user % clients), "hand", pause) for user in range(users)])
        time.sleep(seconds)
        game.stop()
        for each in players:
            each.join()
        return {"us": game.taken}

    def wait(self, name):
        self.locks.acquire(self.client(1), name).release()
        say({"got": name})

    def answer(self, verb, *rest):
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
                                            lambda how: say({"lost": how}))}
        else:
            raise ValueError(f"unknown command {verb}")
        return {"ok": True}


def main(library, port):
    locks = {"redis-py": RedisPy, "python-redis-lock": PythonRedisLock}[library]()
    driver = Driver(locks, int(port))
    say({"version": locks.version.split()[1], "warm": 0.5,
         "runtime": f"Python {platform.python_version()}, hiredis {version('hiredis')}"})
    for line in sys.stdin:
        if line.strip() == "quit":
            return
        say(driver.answer(*line.split()))


main(*sys.argv[1:])
