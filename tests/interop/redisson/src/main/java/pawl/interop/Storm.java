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
 * Wants every object of storm.hpp for ever, a thread for each, and writes down what it believes:
 * the lines are those of storm.hpp. A belief is what the server said last: the time to live of the
 * hold, seen while the hold was this thread's.
 */
final class Storm {
    /** One hold of this thread. */
    private interface Hold {
        /** Until when it lasts, or 0 where it is over. */
        long deadline();

        void end();
    }

    private static final List<String> NAMES =
            List.of("lock", "fenced", "fair", "rw", "permits", "semaphore");
    private static final long MS = 1_000_000;
    /** What a clock may count in whole milliseconds. */
    private static final long SLACK = 5 * MS;

    private final Peer peer;
    private final RedissonClient redisson;
    private final long ttl;
    private final FileOutputStream journal;
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean calm = false;

    Storm(Peer peer, RedissonClient redisson, long ttl, String journal) throws Exception {
        this.peer = peer;
        this.redisson = redisson;
        this.ttl = ttl;
        this.journal = new FileOutputStream(journal, true);
        for (String name : NAMES) {
            Thread one = new Thread(() -> wantForEver(name));
            threads.add(one);
            one.start();
        }
    }

    void calmDown() throws InterruptedException {
        calm = true;
        for (Thread one : threads) one.join();
    }

    private void write(String line) {
        try {
            journal.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
        } catch (Exception problem) {
            Runtime.getRuntime().halt(1);
        }
    }

    private void wantForEver(String name) {
        for (int round = 0; !calm; ++round) {
            String key = name + "." + round;
            try {
                switch (name) {
                    case "permits" -> permits(key, 1 + round % 2);
                    case "semaphore" -> semaphore(key);
                    case "rw" -> lock(key, name, round % 3 == 0 ? "write:rw" : "read:rw");
                    default -> lock(key, name, name);
                }
            } catch (Exception problem) {
                // Redisson's own words for a server that it could not ask, or a hold that ended.
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
        RLock lock = new Taker(redisson, ttl).lock(object);
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
                long asked = peer.now();
                long left = reads ? redisson.getBucket(lease).remainTimeToLive()
                        : lock.remainTimeToLive();
                // Held after that answer, by a thread that took it once: it was held before.
                return lock.isHeldByCurrentThread() && left > 0 ? asked + left * MS : 0;
            }

            @Override
            public void end() {
                // More than once: a request that was sent again counts as an entry.
                while (lock.isHeldByCurrentThread()) lock.unlock();
            }
        });
    }

    private void permits(String key, int count) throws InterruptedException {
        RPermitExpirableSemaphore of = redisson.getPermitExpirableSemaphore("permits");
        of.trySetPermits(Taker.PERMITS);
        write("take " + key + " permits permits " + count + " " + peer.now());
        List<String> ids = of.tryAcquire(count, 60_000, ttl, TimeUnit.MILLISECONDS);
        if (ids.size() != count) throw new IllegalStateException("no permits within a minute");
        use(key, new Hold() {
            @Override
            public long deadline() {
                long asked = peer.now();
                long least = Long.MAX_VALUE;
                for (String id : ids) least = Math.min(least, of.getLeaseTime(id));
                return least > 0 ? asked + least * MS : 0;
            }

            @Override
            public void end() {
                of.tryRelease(ids);
            }
        });
    }

    /** It has no lease. */
    private void semaphore(String key) throws InterruptedException {
        RSemaphore of = redisson.getSemaphore("semaphore");
        write("take " + key + " semaphore permits 1 " + peer.now());
        if (!of.tryAcquire(1, 60, TimeUnit.SECONDS))
            throw new IllegalStateException("no permit within a minute");
        use(key, new Hold() {
            @Override
            public long deadline() {
                return Long.MAX_VALUE;
            }

            @Override
            public void end() {
                of.release(1);
            }
        });
    }
}
