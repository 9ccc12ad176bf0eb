// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A process that uses node-redlock or redis-semaphore and takes commands from stdin. ../peer.hpp
// describes them.
'use strict';

const fs = require('node:fs');
const readline = require('node:readline');
const { setTimeout: sleep } = require('node:timers/promises');
const { Redis } = require('ioredis');

const RETRY_MS = 10;
const ONE_ATTEMPT_MS = 60000;

class NodeRedlock {
  constructor(servers) {
    const { default: Redlock } = require('redlock');
    this.locks = new Redlock(servers, { retryDelay: RETRY_MS, retryJitter: 5 });
    this.locks.on('error', () => {});
  }

  async acquire(name, ttl, bound) {
    try {
      this.held = await this.locks.acquire(name.split(','), ttl, {
        retryCount: Math.ceil(bound / RETRY_MS),
      });
      return true;
    } catch {
      return false;
    }
  }

  async release() {
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

  acquireAs(name, ttl, identifier) {
    return this.acquire(name, ttl, 0, { identifier });
  }

  adopt(name, ttl, identifier) {
    return this.acquire(name, ttl, 0, { identifier, acquiredExternally: true });
  }

  async acquire(name, ttl, bound, options = {}) {
    const mutex = new this.Mutex(this.server, name, {
      lockTimeout: ttl,
      // The library looks at the clock before each attempt, including the first: a bound of a
      // millisecond may be over by then, and the server gets no request.
      acquireTimeout: bound === 0 ? ONE_ATTEMPT_MS : bound,
      acquireAttemptsLimit: bound === 0 ? 1 : Number.POSITIVE_INFINITY,
      retryInterval: RETRY_MS,
      refreshInterval: 0,
      ...options,
    });
    if (!(await mutex.tryAcquire())) return false;
    this.held = mutex;
    this.value = mutex.identifier;
    this.key = `mutex:${name}`;
    return true;
  }

  // Its release does not report its result, so the server is asked.
  async release() {
    const isOwn = (await this.server.get(this.key)) === this.value;
    await this.held.release();
    return isOwn;
  }
}

async function acquireRepeatedly(peer, name, ttl, journal, stop, owner) {
  const file = fs.openSync(journal, 'a');
  let late = 0;
  while (!fs.existsSync(stop)) {
    if (await peer.acquire(name, ttl, 1000)) {
      fs.writeSync(file, `in ${owner}\n`);
      await sleep(1);
      fs.writeSync(file, `out ${owner}\n`);
      if (!(await peer.release())) late += 1;
    }
    await sleep(Math.random() * 10);
  }
  fs.closeSync(file);
  return late;
}

async function execute(peer, [verb, name, ttl, ...rest]) {
  switch (verb) {
    case 'take':
      return (await peer.acquire(name, Number(ttl), 0)) ? 'got' : 'busy';
    case 'wait':
      return (await peer.acquire(name, Number(ttl), Number(rest[0]))) ? 'got' : 'busy';
    case 'take_as':
      return (await peer.acquireAs(name, Number(ttl), rest[0])) ? 'got' : 'busy';
    case 'adopt':
      return (await peer.adopt(name, Number(ttl), rest[0])) ? 'got' : 'busy';
    case 'give':
      return (await peer.release()) ? 'gave' : 'lost';
    default:
      return `late ${await acquireRepeatedly(peer, name, Number(ttl), ...rest)}`;
  }
}

async function main(library, ports) {
  const servers = ports.split(',').map((port) => new Redis(Number(port), '127.0.0.1'));
  const peer = library === 'redlock' ? new NodeRedlock(servers) : new RedisSemaphore(servers[0]);
  console.log('ready');
  for await (const line of readline.createInterface({ input: process.stdin })) {
    console.log(await execute(peer, line.split(' ')));
  }
  servers.forEach((server) => server.disconnect());
}

main(process.argv[2], process.argv[3]);
