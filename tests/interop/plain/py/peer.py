"""A process that uses redis-py, pottery or python-redis-lock, told what to do over stdin.

See ../peer.hpp for the words.
"""
import logging
import math
import os
import random
import sys
import time

import redis

RETRY_SECONDS = 0.01


class RedisPy:
    def __init__(self, server):
        self.server = server

    def wait(self, name, ttl, bound):
        """A ttl of 0 is its default: a lock without an end."""
        lock = self.server.lock(name, timeout=ttl or None, sleep=RETRY_SECONDS)
        if not lock.acquire(blocking=bound > 0, blocking_timeout=bound or None):
            return False
        self.held = lock
        return True

    def give(self):
        try:
            self.held.release()
            return True
        except redis.exceptions.LockError:
            return False


class Pottery:
    def __init__(self, server):
        import pottery
        self.pottery = pottery
        self.server = server

    def wait(self, name, ttl, bound):
        lock = self.pottery.Redlock(key=name, masters={self.server}, auto_release_time=ttl)
        if not lock.acquire(blocking=bound > 0, timeout=bound or -1):
            return False
        self.held = lock
        return True

    def give(self):
        try:
            self.held.release()
            return True
        except self.pottery.ReleaseUnlockedLock:
            return False


class PythonRedisLock:
    def __init__(self, server):
        import redis_lock
        self.redis_lock = redis_lock
        self.server = server
        logging.getLogger("redis_lock").setLevel(logging.ERROR)

    def wait(self, name, ttl, bound):
        """Its ttl is in whole seconds, and it waits for no longer than that."""
        expire = math.ceil(ttl)
        lock = self.redis_lock.Lock(self.server, name, expire=expire)
        timeout = min(bound, expire) if bound > 0 else None
        if not lock.acquire(blocking=bound > 0, timeout=timeout):
            return False
        self.held = lock
        return True

    def give(self):
        try:
            self.held.release()
            return True
        except self.redis_lock.NotAcquired:
            return False


def crowd(peer, name, ttl, journal, stop, who):
    late = 0
    with open(journal, "ab", buffering=0) as book:
        while not os.path.exists(stop):
            if peer.wait(name, ttl, 1.0):
                book.write(f"in {who}\n".encode())
                time.sleep(0.001)
                book.write(f"out {who}\n".encode())
                late += not peer.give()
            time.sleep(random.uniform(0, 0.01))
    return late


def answer(peer, verb, name="", ttl="0", *rest):
    seconds = int(ttl) / 1000
    if verb == "take":
        return "got" if peer.wait(name, seconds, 0) else "busy"
    if verb == "wait":
        return "got" if peer.wait(name, seconds, int(rest[0]) / 1000) else "busy"
    if verb == "give":
        return "gave" if peer.give() else "lost"
    return f"late {crowd(peer, name, seconds, *rest)}"


def main(library, port):
    libraries = {"redis-py": RedisPy, "pottery": Pottery, "python-redis-lock": PythonRedisLock}
    # Its default since 8.0, 5 s, would end the blocking pops of python-redis-lock.
    server = redis.Redis(port=int(port), socket_timeout=None)
    peer = libraries[library](server)
    print("ready", flush=True)
    for line in sys.stdin:
        print(answer(peer, *line.split()), flush=True)


main(*sys.argv[1:])
