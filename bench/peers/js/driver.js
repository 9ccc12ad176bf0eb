// Drives node-redlock or redis-semaphore for ../run.py: one command a line, one JSON object a line
// back. ../README.md says what the commands are. The packages are found by NODE_PATH.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const readline = require('node:readline');
const { setTimeout: sleep } = require('node:timers/promises');
const { Redis } = require('ioredis');

const HOLD_MS = 30000;
const [library, port] = process.argv.slice(2);

const say = (line) => console.log(JSON.stringify(line));
const now = () => Number(process.hrtime.bigint()) / 1e3; // in µs
const versionOf = (name) => JSON.parse(
  fs.readFileSync(path.join(process.env.NODE_PATH, name, 'package.json'))).version;
const connect = () => new Redis(Number(port), '127.0.0.1');

// Both call `work` with the lock held, and release it when that ends.
class NodeRedlock {
  version = versionOf('redlock');
  pollsMs = 300; // 200, and up to 100 by chance: its defaults

  client() {
    const { default: Redlock } = require('redlock');
    return new Redlock([connect()], { retryCount: -1 });
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
    return connect();
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
  const taken = [];
  let count = 0;
  const began = now();
  const play = async (user) => {
    for (let before = began; before < began + seconds * 1e6; count += 1) {
      await locks.within(from, `pair/${user}`, async () => {});
      const after = now();
      if (users === 1) taken.push(after - before);
      before = after;
    }
  };
  await Promise.all(Array.from({ length: users }, (_, user) => play(user)));
  return { pairs: count, seconds: (now() - began) / 1e6, us: taken };
}

// Users of one name hand it round: who has released asks again only when another one has it.
async function handoff(users, many, seconds) {
  const spread = users === 2 ? Math.max(10, locks.pollsMs) : 10;
  const taken = [];
  let over = false;
  let released = 0;
  let next = () => {}; // tells the one who has released
  const play = async (user) => {
    while (!over) {
      let another;
      await locks.within(client(user % many), 'hand', async () => {
        const got = now();
        if (released && !over) taken.push(got - released);
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
  const all = Array.from({ length: users }, (_, user) => play(user));
  await sleep(seconds * 1000);
  over = true;
  next();
  await Promise.all(all);
  return { us: taken };
}

function take(name) {
  return new Promise((taken) => {
    let give;
    const until = new Promise((resolve) => {
      give = resolve;
    });
    const done = locks.within(client(0), name, async () => {
      taken();
      await until;
    });
    held.set(name, () => {
      give();
      return done;
    });
  });
}

async function answer(verb, ...rest) {
  switch (verb) {
    case 'pairs':
      return pairs(Number(rest[0]), Number(rest[1]));
    case 'handoff':
      return handoff(Number(rest[0]), Number(rest[1]), Number(rest[2]));
    case 'take':
      await take(rest[0]);
      return { ok: true };
    case 'give':
      await held.get(rest[0])();
      return { ok: true };
    case 'wait':
      locks.within(client(1), rest[0], async () => {}).then(() => say({ got: rest[0] }));
      return { ok: true };
    case 'watch':
      return new Promise((resolve) => {
        locks.watch(rest[0], Number(rest[1]), (key) => resolve({ key }),
          (how) => say({ lost: how }));
      });
    default:
      throw new Error(`unknown command ${verb}`);
  }
}

async function main() {
  const runtime = `Node ${process.versions.node}, ioredis ${versionOf('ioredis')}`;
  say({ version: locks.version, runtime, warm: 1 });
  for await (const line of readline.createInterface({ input: process.stdin })) {
    if (line === 'quit') process.exit(0);
    say(await answer(...line.split(' ')));
  }
  process.exit(0);
}

main();
