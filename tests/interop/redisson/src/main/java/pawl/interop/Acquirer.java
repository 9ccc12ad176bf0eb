// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

package pawl.interop;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.RedissonRedLock;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/**
 * The name selects the object, by its prefix: fenced, fair, permits, semaphore, read:KEY and
 * write:KEY of one ReadWriteLock. Any other name is an RLock. Pawl's processes do the same.
 */
final class Acquirer {
    /** The total number of permits, as in peer.hpp. */
    static final int PERMITS = 3;

    /** One hold. */
    record Hold(long token, Runnable end) {}

    private final RedissonClient redisson;
    private final List<RedissonClient> nodes;
    private final long lease;

    /**
     * With several nodes, each lock is a RedissonRedLock. `lease`, in ms, is for permits, which
     * have no watchdog.
     */
    Acquirer(List<RedissonClient> nodes, long lease) {
        this.redisson = nodes.get(0);
        this.nodes = nodes;
        this.lease = lease;
    }

    @SuppressWarnings("deprecation")
    RLock lock(String name) {
        if (nodes.size() > 1)
            return new RedissonRedLock(
                    nodes.stream().map(each -> each.getLock(name)).toArray(RLock[]::new));
        if (name.startsWith("fenced")) return redisson.getFencedLock(name);
        if (name.startsWith("fair")) return redisson.getFairLock(name);
        if (name.startsWith("read:"))
            return redisson.getReadWriteLock(name.substring(5)).readLock();
        if (name.startsWith("write:"))
            return redisson.getReadWriteLock(name.substring(6)).writeLock();
        return redisson.getLock(name);
    }

    RPermitExpirableSemaphore permits(String name) {
        return redisson.getPermitExpirableSemaphore(name);
    }

    RSemaphore semaphore(String name) {
        return redisson.getSemaphore(name);
    }

    /** Waits for the lock, with one of Redisson's methods; `count` is for semaphores. */
    Hold acquire(String name, int variant, int count) throws InterruptedException {
        if (name.startsWith("permits")) return acquirePermits(permits(name), variant, count);
        if (name.startsWith("semaphore")) return acquireSemaphore(semaphore(name), variant, count);
        RLock lock = lock(name);
        return new Hold(acquireLock(lock, variant), lock::unlock);
    }

    private Hold acquirePermits(RPermitExpirableSemaphore semaphore, int variant, int count)
            throws InterruptedException {
        semaphore.trySetPermits(PERMITS);
        List<String> ids = variant % 2 == 0
                ? semaphore.acquire(count, lease, TimeUnit.MILLISECONDS)
                : semaphore.tryAcquire(count, 60000, lease, TimeUnit.MILLISECONDS);
        if (ids.size() != count) throw new IllegalStateException("no permits within a minute");
        return new Hold(0, () -> semaphore.release(ids));
    }

    private static Hold acquireSemaphore(RSemaphore semaphore, int variant, int count)
            throws InterruptedException {
        semaphore.trySetPermits(PERMITS);
        if (variant % 2 == 0)
            semaphore.acquire(count);
        else if (!semaphore.tryAcquire(count, 60, TimeUnit.SECONDS))
            throw new IllegalStateException("no permits within a minute");
        return new Hold(0, () -> semaphore.release(count));
    }

    /** The token, or 0 where the lock has none. */
    private static long acquireLock(RLock lock, int variant) throws InterruptedException {
        if (lock instanceof RFencedLock fenced) {
            Long token = switch (variant % 3) {
                case 0 -> fenced.lockAndGetToken();
                case 1 -> fenced.tryLockAndGetToken(60, TimeUnit.SECONDS);
                default -> fenced.tryLockAndGetToken(60, 20, TimeUnit.SECONDS);
            };
            if (token == null) throw new IllegalStateException("no lock within a minute");
            return token;
        }
        boolean held = switch (variant % 3) {
            case 0 -> {
                lock.lock();
                yield true;
            }
            case 1 -> lock.tryLock(60, TimeUnit.SECONDS);
            default -> lock.tryLock(60, 20, TimeUnit.SECONDS);
        };
        if (!held) throw new IllegalStateException("no lock within a minute");
        return 0;
    }
}
