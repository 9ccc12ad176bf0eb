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


class Library:
    """Takes locks and gives them back; `not_ours` is what a release of somebody else's throws."""

    def __init__(self, server, not_ours):
        self.server = server
        self.not_ours = not_ours
        self.held = None

    def keep(self, lock, got):
        if got:
            self.held = lock
        return got

    def give(self):
        try:
            self.held.release()
            return True
        except self.not_ours:
            return False


class RedisPy(Library):
    def __init__(self, server):
        super().__init__(server, redis.exceptions.LockError)

    def lock(self, name, ttl):
        """A ttl of 0 is its default: a lock without an end."""
        return self.server.lock(name, timeout=ttl or None, sleep=RETRY_SECONDS)

    def wait(self, name, ttl, bound):
        lock = self.lock(name, ttl)
        return self.keep(lock, lock.acquire(blocking=bound > 0, blocking_timeout=bound or None))

    def take_as(self, name, ttl, value):
        lock = self.lock(name, ttl)
        return self.keep(lock, lock.acquire(blocking=False, token=value))

    def adopt(self, name, ttl, value):
        lock = self.lock(name, ttl)
        lock.local.token = value.encode()
        return self.keep(lock, lock.owned() and lock.extend(ttl, replace_ttl=True))


class Pottery(Library):
    def __init__(self, server):
        import pottery
        super().__init__(server, pottery.ReleaseUnlockedLock)
        self.redlock = pottery.Redlock

    def wait(self, name, ttl, bound):
        lock = self.redlock(key=name, masters={self.server}, auto_release_time=ttl)
        return self.keep(lock, lock.acquire(blocking=bound > 0, timeout=bound or -1))


class PythonRedisLock(Library):
    def __init__(self, server):
        import redis_lock
        super().__init__(server, redis_lock.NotAcquired)
        self.lock = redis_lock.Lock
        logging.getLogger("redis_lock").setLevel(logging.ERROR)

    def wait(self, name, ttl, bound):
        """Its ttl is in whole seconds, and it waits for no longer than that."""
        expire = math.ceil(ttl)
        lock = self.lock(self.server, name, expire=expire)
        timeout = min(bound, expire) if bound > 0 else None
        return self.keep(lock, lock.acquire(blocking=bound > 0, timeout=timeout))


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
    if verb == "give":
        return "gave" if peer.give() else "lost"
    if verb == "crowd":
        return f"late {crowd(peer, name, seconds, *rest)}"
    got = {
        "take": lambda: peer.wait(name, seconds, 0),
        "wait": lambda: peer.wait(name, seconds, int(rest[0]) / 1000),
        "take_as": lambda: peer.take_as(name, seconds, *rest),
        "adopt": lambda: peer.adopt(name, seconds, *rest),
    }[verb]()
    return "got" if got else "busy"


def main(library, port):
    libraries = {"redis-py": RedisPy, "pottery": Pottery, "python-redis-lock": PythonRedisLock}
    # Its default since 8.0, 5 s, would end the blocking pops of python-redis-lock.
    server = redis.Redis(port=int(port), socket_timeout=None)
    peer = libraries[library](server)
    print("ready", flush=True)
    for line in sys.stdin:
        print(answer(peer, *line.split()), flush=True)


main(*sys.argv[1:])
