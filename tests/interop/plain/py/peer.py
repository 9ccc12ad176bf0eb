# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""A process that uses redis-py, pottery or python-redis-lock, and takes commands from stdin.

../peer.hpp describes them.
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
    """Acquires and releases locks; `not_owned` is the error of a release of another's lock."""

    def __init__(self, servers, not_owned):
        self.servers = servers
        self.server = servers[0]
        self.not_owned = not_owned
        self.held = None

    def keep(self, lock, acquired):
        if acquired:
            self.held = lock
        return acquired

    def release(self):
        try:
            self.held.release()
            return True
        except self.not_owned:
            return False


class RedisPy(Library):
    def __init__(self, servers):
        super().__init__(servers, redis.exceptions.LockError)

    def lock(self, name, ttl):
        """A ttl of 0 is its default: a lock without expiry."""
        return self.server.lock(name, timeout=ttl or None, sleep=RETRY_SECONDS)

    def acquire(self, name, ttl, bound):
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
    def __init__(self, servers):
        import pottery
        super().__init__(servers, pottery.ReleaseUnlockedLock)
        self.redlock = pottery.Redlock

    def acquire(self, name, ttl, bound):
        lock = self.redlock(key=name, masters=set(self.servers), auto_release_time=ttl)
        return self.keep(lock, lock.acquire(blocking=bound > 0, timeout=bound or -1))


class PythonRedisLock(Library):
    def __init__(self, servers):
        import redis_lock
        super().__init__(servers, redis_lock.NotAcquired)
        self.lock = redis_lock.Lock
        logging.getLogger("redis_lock").setLevel(logging.ERROR)

    def acquire(self, name, ttl, bound):
        """Its ttl is in whole seconds, and it waits for no longer than that."""
        expire = math.ceil(ttl)
        lock = self.lock(self.server, name, expire=expire)
        timeout = min(bound, expire) if bound > 0 else None
        return self.keep(lock, lock.acquire(blocking=bound > 0, timeout=timeout))


def acquire_repeatedly(peer, name, ttl, journal, stop, owner):
    late = 0
    with open(journal, "ab", buffering=0) as file:
        while not os.path.exists(stop):
            if peer.acquire(name, ttl, 1.0):
                file.write(f"in {owner}\n".encode())
                time.sleep(0.001)
                file.write(f"out {owner}\n".encode())
                late += not peer.release()
            time.sleep(random.uniform(0, 0.01))
    return late


def execute(peer, verb, name="", ttl="0", *rest):
    seconds = int(ttl) / 1000
    if verb == "give":
        return "gave" if peer.release() else "lost"
    if verb == "crowd":
        return f"late {acquire_repeatedly(peer, name, seconds, *rest)}"
    acquired = {
        "take": lambda: peer.acquire(name, seconds, 0),
        "wait": lambda: peer.acquire(name, seconds, int(rest[0]) / 1000),
        "take_as": lambda: peer.take_as(name, seconds, *rest),
        "adopt": lambda: peer.adopt(name, seconds, *rest),
    }[verb]()
    return "got" if acquired else "busy"


def main(library, ports):
    libraries = {"redis-py": RedisPy, "pottery": Pottery, "python-redis-lock": PythonRedisLock}
    # Its default since 8.0, 5 s, would end the blocking pops of python-redis-lock.
    servers = [redis.Redis(port=int(port), socket_timeout=None) for port in ports.split(",")]
    peer = libraries[library](servers)
    print("ready", flush=True)
    for line in sys.stdin:
        print(execute(peer, *line.split()), flush=True)


main(*sys.argv[1:])
