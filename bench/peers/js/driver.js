// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Drives node-redlock or redis-semaphore for ../run.py: one command a line, one JSON object a line
// in reply. ../README.md describes the commands. NODE_PATH leads to the packages.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const readline = require('node:readline');
const { setTimeout: sleep } = require('node:timers/promises');
const { Redis } = require('ioredis');

const HOLD_MS = 30000;
const [library, place] = process.argv.slice(2);

const writeLine = (line) => console.log(JSON.stringify(line));
const now = () => Number(process.hrtime.bigint()) / 1e3; // in µs
const versionOf = (name) => JSON.parse(
  fs.readFileSync(path.join(process.env.NODE_PATH, name, 'package.json'))).version;
// One client for each server.
const connectAll = () => place.replace('redlock:', '').split(',')
  .map((port) => new Redis(Number(port), '127.0.0.1').on('error', () => {}));

// Both call `work` while the lock is held, and release it afterwards.
class NodeRedlock {
  version = versionOf('redlock');
  pollsMs = 300; // 200, and up to 100 at random: its defaults

  client() {
    const { default: Redlock } = require('redlock');
    return new Redlock(connectAll(), { retryCount: -1 });
  }

  within(locks, name, work, ttl = HOLD_MS) {
    return locks.using([name], ttl, work);
  }

  // The AbortSignal of its using().
  watch(name, ttl, held, lost) {
    this.within(this.client(), name, async (signal) => {
      signal.addEventListener('abort', () => lost("using()'s AbortSignal"));
      held(name);
      await new Promise(() => {});
    }, ttl);
  }
}

class RedisSemaphore {
  version = versionOf('redis-semaphore');
  pollsMs = 10; // its default

  client() {
    return connectAll()[0];
  }

  async within(server, name, work, ttl = HOLD_MS, onLockLost = undefined) {
    const { Mutex } = require('redis-semaphore');
    const mutex = new Mutex(server, name, {
      lockTimeout: ttl,
      acquireTimeout: Number.POSITIVE_INFINITY,
      ...(onLockLost && { onLockLost }),
    });
    await mutex.acquire();
    try {
      return await work();
    } finally {
      await mutex.release();
    }
  }

  // Its refresh, and onLockLost.
  watch(name, ttl, held, lost) {
    this.within(this.client(), name, async () => {
      held(`mutex:${name}`);
      await new Promise(() => {});
    }, ttl, () => lost('onLockLost'));
  }
}

const locks = library === 'node-redlock' ? new NodeRedlock() : new RedisSemaphore();
const clients = [];
const held = new Map();

function client(number) {
  while (clients.length <= number) clients.push(locks.client());
  return clients[number];
}

async function pairs(users, seconds) {
  const from = client(0);
  const timesUs = [];
  let count = 0;
  const began = now();
  const runUser = async (user) => {
    for (let before = began; before < began + seconds * 1e6; count += 1) {
      await locks.within(from, `pair/${user}`, async () => {});
      const after = now();
      if (users === 1) timesUs.push(after - before);
      before = after;
    }
  };
  await Promise.all(Array.from({ length: users }, (_, user) => runUser(user)));
  return { pairs: count, seconds: (now() - began) / 1e6, us: timesUs };
}

// Users of one name pass it round: a user that has released asks again only after another user has
// it.
async function handoff(users, clientCount, seconds) {
  const spread = users === 2 ? Math.max(10, locks.pollsMs) : 10;
  const timesUs = [];
  let over = false;
  let released = 0;
  let next = () => {}; // notifies the user that has released
  const runUser = async (user) => {
    while (!over) {
      let another;
      await locks.within(client(user % clientCount), 'hand', async () => {
        const got = now();
        if (released && !over) timesUs.push(got - released);
        next();
        if (over) return;
        another = new Promise((resolve) => {
          next = resolve;
        });
        await sleep(2 + Math.random() * spread);
        released = now();
      });
      await another;
    }
  };
  const all = Array.from({ length: users }, (_, user) => runUser(user));
  await sleep(seconds * 1000);
  over = true;
  next();
  await Promise.all(all);
  return { us: timesUs };
}

function acquire(name) {
  return new Promise((acquired) => {
    let release;
    const until = new Promise((resolve) => {
      release = resolve;
    });
    const done = locks.within(client(0), name, async () => {
      acquired();
      await until;
    });
    held.set(name, () => {
      release();
      return done;
    });
  });
}

async function execute(verb, ...rest) {
  switch (verb) {
    case 'pairs':
      return pairs(Number(rest[0]), Number(rest[1]));
    case 'handoff':
      return handoff(Number(rest[0]), Number(rest[1]), Number(rest[2]));
    case 'take':
      await acquire(rest[0]);
      return { ok: true };
    case 'give':
      await held.get(rest[0])();
      return { ok: true };
    case 'wait':
      locks.within(client(1), rest[0], async () => {}).then(() => writeLine({ got: rest[0] }));
      return { ok: true };
    case 'watch':
      return new Promise((resolve) => {
        locks.watch(rest[0], Number(rest[1]), (key) => resolve({ key }),
          (signal) => writeLine({ lost: signal }));
      });
    default:
      throw new Error(`unknown command ${verb}`);
  }
}

async function main() {
  const runtime = `Node ${process.versions.node}, ioredis ${versionOf('ioredis')}`;
  writeLine({ version: locks.version, runtime, warm: 1 });
  for await (const line of readline.createInterface({ input: process.stdin })) {
    if (line === 'quit') process.exit(0);
    writeLine(await execute(...line.split(' ')));
  }
  process.exit(0);
}

main();
