package pawl.interop;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Redisson behind a line protocol: one command a line, one answer a line, all in one thread. The
 * same verbs as in peer.cpp. Names that begin with "fenced" are FencedLocks, the others RLocks.
 */
public final class Peer {
    private final RedissonClient redisson;
    /** What turns System.nanoTime() into the boot clock's nanoseconds. */
    private final long offset;

    private Peer(RedissonClient redisson, long offset) {
        this.redisson = redisson;
        this.offset = offset;
    }

    RLock lock(String name) {
        return name.startsWith("fenced") ? redisson.getFencedLock(name) : redisson.getLock(name);
    }

    long now() {
        return System.nanoTime() + offset;
    }

    /** The token, or 0 where the lock has none. */
    static long acquire(RLock lock, int how) throws InterruptedException {
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

    private String serve(String[] words) throws Exception {
        RLock lock = lock(words.length > 1 ? words[1] : "none");
        switch (words[0]) {
            case "lock":
                long token = acquire(lock, 0);
                return "held " + token + " " + now();
            case "unlock":
                long before = now();
                lock.unlock();
                return "unlocked " + before;
            case "try":
                return lock.tryLock() ? "held" : "busy";
            case "see":
                return "seen " + lock.isLocked() + " " + lock.remainTimeToLive() + " "
                        + lock.getHoldCount();
            case "force":
                return "forced " + lock.forceUnlock();
            case "contend":
                return new Crowd(this, words).run();
            default:
                return "unknown command " + words[0];
        }
    }

    public static void main(String[] arguments) throws Exception {
        Config config = new Config();
        config.useSingleServer().setAddress(arguments[0]).setConnectionMinimumIdleSize(2)
                .setConnectionPoolSize(8).setSubscriptionConnectionMinimumIdleSize(1);
        config.setLockWatchdogTimeout(Long.parseLong(arguments[1]));
        RedissonClient redisson = Redisson.create(config);
        Peer peer = new Peer(redisson, Long.parseLong(arguments[2]));
        System.out.println("ready");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String answer;
            try {
                answer = peer.serve(line.split(" "));
            } catch (Exception problem) {
                answer = "failed " + problem;
            }
            System.out.println(answer);
        }
        redisson.shutdown();
    }
}
