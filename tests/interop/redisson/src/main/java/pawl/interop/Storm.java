// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

package pawl.interop;

import java.io.FileOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/**
 * Contends for every object of storm.hpp, with a thread for each, and records its beliefs in the
 * format of storm.hpp. A belief is the server's last reply: the time to live of the hold, read
 * while the hold was this thread's.
 */
final class Storm {
    /** One hold of this thread. */
    private interface Hold {
        /** The end of the lease, or 0 if the hold has ended. */
        long deadline();

        void end();
    }

    private static final List<String> NAMES =
            List.of("lock", "fenced", "fair", "rw", "permits", "semaphore");
    private static final long MS = 1_000_000;
    /** The error of clocks that count whole milliseconds. */
    private static final long SLACK = 5 * MS;

    private final Peer peer;
    private final RedissonClient redisson;
    private final long ttl;
    private final FileOutputStream journal;
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean stopping = false;

    Storm(Peer peer, RedissonClient redisson, long ttl, String journal) throws Exception {
        this.peer = peer;
        this.redisson = redisson;
        this.ttl = ttl;
        this.journal = new FileOutputStream(journal, true);
        for (String name : NAMES) {
            Thread thread = new Thread(() -> contend(name));
            threads.add(thread);
            thread.start();
        }
    }

    void finish() throws InterruptedException {
        stopping = true;
        for (Thread thread : threads) thread.join();
    }

    private void write(String line) {
        try {
            journal.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
        } catch (Exception problem) {
            Runtime.getRuntime().halt(1);
        }
    }

    private void contend(String name) {
        for (int round = 0; !stopping; ++round) {
            String key = name + "." + round;
            try {
                switch (name) {
                    case "permits" -> permits(key, 1 + round % 2);
                    case "semaphore" -> semaphore(key);
                    case "rw" -> lock(key, name, round % 3 == 0 ? "write:rw" : "read:rw");
                    default -> lock(key, name, name);
                }
            } catch (Exception problem) {
                // Redisson's messages for a server that could not be reached, or a hold that ended.
                write("trouble " + key + " " + problem.getClass().getSimpleName());
            }
        }
    }

    private void use(String key, Hold hold) throws InterruptedException {
        long until = hold.deadline();
        int steps = ThreadLocalRandom.current().nextInt(1, 5);
        for (int i = 0; i <= steps && until != 0; ++i) {
            long now = peer.now();
            if (now >= until) break;
            write("at " + key + " " + now + " " + until);
            Thread.sleep(ThreadLocalRandom.current().nextInt(1, 20));
            long next = hold.deadline();
            if (next == 0 && peer.now() + SLACK < until) write("robbed " + key + " " + until);
            until = next;
        }
        write("leave " + key);
        hold.end();
        write("left " + key);
    }

    private void lock(String key, String name, String object) throws InterruptedException {
        RLock lock = new Acquirer(List.of(redisson), ttl).lock(object);
        boolean reads = object.startsWith("read:");
        String mode = reads ? "shared" : "exclusive";
        write("take " + key + " " + name + " " + mode + " 1 " + peer.now());
        boolean held = ThreadLocalRandom.current().nextBoolean()
                ? lock.tryLock(60_000, ttl, TimeUnit.MILLISECONDS)
                : lock.tryLock(60, TimeUnit.SECONDS);
        if (!held) throw new IllegalStateException("no lock within a minute");
        String lease = reads ? "{rw}:" + redisson.getId() + ":" + Thread.currentThread().getId()
                + ":rwlock_timeout:1" : null;
        use(key, new Hold() {
            @Override
            public long deadline() {
                long askedAt = peer.now();
                long remaining = reads ? redisson.getBucket(lease).remainTimeToLive()
                        : lock.remainTimeToLive();
                // Held after that reply, by a thread that acquired once: it was held before.
                return lock.isHeldByCurrentThread() && remaining > 0 ? askedAt + remaining * MS : 0;
            }

            @Override
            public void end() {
                // More than once: a repeated request counts as an entry.
                while (lock.isHeldByCurrentThread()) lock.unlock();
            }
        });
    }

    private void permits(String key, int count) throws InterruptedException {
        RPermitExpirableSemaphore semaphore = redisson.getPermitExpirableSemaphore("permits");
        semaphore.trySetPermits(Acquirer.PERMITS);
        write("take " + key + " permits permits " + count + " " + peer.now());
        List<String> ids = semaphore.tryAcquire(count, 60_000, ttl, TimeUnit.MILLISECONDS);
        if (ids.size() != count) throw new IllegalStateException("no permits within a minute");
        use(key, new Hold() {
            @Override
            public long deadline() {
                long askedAt = peer.now();
                long least = Long.MAX_VALUE;
                for (String id : ids) least = Math.min(least, semaphore.getLeaseTime(id));
                return least > 0 ? askedAt + least * MS : 0;
            }

            @Override
            public void end() {
                semaphore.tryRelease(ids);
            }
        });
    }

    /** A semaphore without a lease. */
    private void semaphore(String key) throws InterruptedException {
        RSemaphore semaphore = redisson.getSemaphore("semaphore");
        write("take " + key + " semaphore permits 1 " + peer.now());
        if (!semaphore.tryAcquire(1, 60, TimeUnit.SECONDS))
            throw new IllegalStateException("no permit within a minute");
        use(key, new Hold() {
            @Override
            public long deadline() {
                return Long.MAX_VALUE;
            }

            @Override
            public void end() {
                semaphore.release(1);
            }
        });
    }
}
