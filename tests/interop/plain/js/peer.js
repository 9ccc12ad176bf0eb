// A process that uses node-redlock or redis-semaphore, told what to do over stdin. See ../peer.hpp
// for the words.
'use strict';

const fs = require('node:fs');
const readline = require('node:readline');
const { setTimeout: sleep } = require('node:timers/promises');
const { Redis } = require('ioredis');

const RETRY_MS = 10;
const ONE_ATTEMPT_MS = 60000;

class NodeRedlock {
  constructor(server) {
    const { default: Redlock } = require('redlock');
    this.locks = new Redlock([server], { retryDelay: RETRY_MS, retryJitter: 5 });
    this.locks.on('error', () => {});
  }

  async wait(name, ttl, bound) {
    try {
      this.held = await this.locks.acquire(name.split(','), ttl, {
        retryCount: Math.ceil(bound / RETRY_MS),
      });
      return true;
    } catch {
      return false;
    }
  }

  async give() {
    try {
      await this.held.release();
      return true;
    } catch {
      return false;
    }
  }
}

class RedisSemaphore {
  constructor(server) {
    this.Mutex = require('redis-semaphore').Mutex;
    this.server = server;
  }

  takeAs(name, ttl, identifier) {
    return this.wait(name, ttl, 0, { identifier });
  }

  adopt(name, ttl, identifier) {
    return this.wait(name, ttl, 0, { identifier, acquiredExternally: true });
  }

  async wait(name, ttl, bound, more = {}) {
    const mutex = new this.Mutex(this.server, name, {
      lockTimeout: ttl,
      // It looks at the clock before each attempt, the first one, too: a bound of a millisecond may
      // be over by then, and the server is never asked.
      acquireTimeout: bound === 0 ? ONE_ATTEMPT_MS : bound,
      acquireAttemptsLimit: bound === 0 ? 1 : Number.POSITIVE_INFINITY,
      retryInterval: RETRY_MS,
      refreshInterval: 0,
      ...more,
    });
    if (!(await mutex.tryAcquire())) return false;
    this.held = mutex;
    this.value = mutex.identifier;
    this.key = `mutex:${name}`;
    return true;
  }

  // Its release does not say what it found, so the server is asked.
  async give() {
    const mine = (await this.server.get(this.key)) === this.value;
    await this.held.release();
    return mine;
  }
}

async function crowd(peer, name, ttl, journal, stop, who) {
  const book = fs.openSync(journal, 'a');
  let late = 0;
  while (!fs.existsSync(stop)) {
    if (await peer.wait(name, ttl, 1000)) {
      fs.writeSync(book, `in ${who}\n`);
      await sleep(1);
      fs.writeSync(book, `out ${who}\n`);
      if (!(await peer.give())) late += 1;
    }
    await sleep(Math.random() * 10);
  }
  fs.closeSync(book);
  return late;
}

async function answer(peer, [verb, name, ttl, ...rest]) {
  switch (verb) {
    case 'take':
      return (await peer.wait(name, Number(ttl), 0)) ? 'got' : 'busy';
    case 'wait':
      return (await peer.wait(name, Number(ttl), Number(rest[0]))) ? 'got' : 'busy';
    case 'take_as':
      return (await peer.takeAs(name, Number(ttl), rest[0])) ? 'got' : 'busy';
    case 'adopt':
      return (await peer.adopt(name, Number(ttl), rest[0])) ? 'got' : 'busy';
    case 'give':
      return (await peer.give()) ? 'gave' : 'lost';
    default:
      return `late ${await crowd(peer, name, Number(ttl), ...rest)}`;
  }
}

async function main(library, port) {
  const server = new Redis(Number(port), '127.0.0.1');
  const peer = library === 'redlock' ? new NodeRedlock(server) : new RedisSemaphore(server);
  console.log('ready');
  for await (const line of readline.createInterface({ input: process.stdin })) {
    console.log(await answer(peer, line.split(' ')));
  }
  server.disconnect();
}

main(process.argv[2], process.argv[3]);
