package pawl.interop;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/**
 * What a name is, told by how it begins: fenced, fair, read:NAME and write:NAME of one
 * ReadWriteLock, permits, semaphore; else an RLock.
 */
final class Taker {
    /** How many permits there are, as in peer.hpp. */
    static final int PERMITS = 3;

    /** One hold. */
    record Taken(long token, Runnable end) {}

    private final RedissonClient redisson;
    private final long lease;

    /** `lease` is that of permits, in ms, which have no watchdog. */
    Taker(RedissonClient redisson, long lease) {
        this.redisson = redisson;
        this.lease = lease;
    }

    RLock lock(String name) {
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

    /** Waits for it, in one of the ways that Redisson has; `count` is for semaphores. */
    Taken take(String name, int how, int count) throws InterruptedException {
        if (name.startsWith("permits")) return takePermits(permits(name), how, count);
        if (name.startsWith("semaphore")) return takeSemaphore(semaphore(name), how, count);
        RLock lock = lock(name);
        return new Taken(acquire(lock, how), lock::unlock);
    }

    private Taken takePermits(RPermitExpirableSemaphore of, int how, int count)
            throws InterruptedException {
        of.trySetPermits(PERMITS);
        List<String> ids = how % 2 == 0
                ? of.acquire(count, lease, TimeUnit.MILLISECONDS)
                : of.tryAcquire(count, 60000, lease, TimeUnit.MILLISECONDS);
        if (ids.size() != count) throw new IllegalStateException("no permits within a minute");
        return new Taken(0, () -> of.release(ids));
    }

    private static Taken takeSemaphore(RSemaphore of, int how, int count)
            throws InterruptedException {
        of.trySetPermits(PERMITS);
        if (how % 2 == 0)
            of.acquire(count);
        else if (!of.tryAcquire(count, 60, TimeUnit.SECONDS))
            throw new IllegalStateException("no permits within a minute");
        return new Taken(0, () -> of.release(count));
    }

    /** The token, or 0 where the lock has none. */
    private static long acquire(RLock lock, int how) throws InterruptedException {
        if (lock instanceof RFencedLock fenced) {
            Long token = switch (how % 3) {
                case 0 -> fenced.lockAndGetToken();
                case 1 -> fenced.tryLockAndGetToken(60, TimeUnit.SECONDS);
                default -> fenced.tryLockAndGetToken(60, 20, TimeUnit.SECONDS);
            };
            if (token == null) throw new IllegalStateException("no lock within a minute");
            return token;
        }
        boolean held = switch (how % 3) {
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
