package pawl.interop;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Redisson behind a line protocol: one command a line, one answer a line, all in one thread. The
 * same verbs as in peer.cpp.
 */
public final class Peer {
    private final RedissonClient redisson;
    private final Taker taker;
    /** What turns System.nanoTime() into the boot clock's nanoseconds. */
    private final long offset;
    private final Map<String, Deque<Taker.Taken>> held = new HashMap<>();
    private final long lease;
    private Storm storm;

    private Peer(RedissonClient redisson, long lease, long offset) {
        this.redisson = redisson;
        this.lease = lease;
        taker = new Taker(redisson, lease);
        this.offset = offset;
    }

    Taker taker() {
        return taker;
    }

    long now() {
        return System.nanoTime() + offset;
    }

    private String lock(String name, int count) throws Exception {
        Taker.Taken one = taker.take(name, 0, count);
        held.computeIfAbsent(name, key -> new ArrayDeque<>()).push(one);
        return "held " + one.token() + " " + now();
    }

    private String unlock(String name) {
        long before = now();
        Deque<Taker.Taken> mine = held.get(name);
        if (mine == null || mine.isEmpty())
            taker.lock(name).unlock();
        else
            mine.pop().end().run();
        return "unlocked " + before;
    }

    private String see(String name) {
        if (name.startsWith("permits"))
            return "seen " + taker.permits(name).availablePermits() + " "
                    + taker.permits(name).getPermits();
        if (name.startsWith("semaphore"))
            return "seen " + taker.semaphore(name).availablePermits();
        RLock lock = taker.lock(name);
        return "seen " + lock.isLocked() + " " + lock.remainTimeToLive() + " "
                + lock.getHoldCount();
    }

    private String serve(String[] words) throws Exception {
        if (words[0].startsWith("latch_")) return Latches.serve(redisson, words);
        String name = words.length > 1 ? words[1] : "none";
        switch (words[0]) {
            case "lock":
                return lock(name, words.length > 2 ? Integer.parseInt(words[2]) : 1);
            case "unlock":
                return unlock(name);
            case "try":
                return taker.lock(name).tryLock() ? "held" : "busy";
            case "see":
                return see(name);
            case "force":
                return "forced " + taker.lock(name).forceUnlock();
            case "contend":
                return new Crowd(this, words).run();
            case "storm":
                storm = new Storm(this, redisson, lease, words[1]);
                return "storming " + redisson.getId();
            case "calm":
                storm.calmDown();
                return "calm";
            default:
                return "unknown command " + words[0];
        }
    }

    private static Config configured(String[] arguments) {
        Config config = new Config();
        if (arguments.length > 3)
            config.useClusterServers().addNodeAddress(arguments[0]);
        else
            config.useSingleServer().setAddress(arguments[0]).setConnectionMinimumIdleSize(2)
                    .setConnectionPoolSize(8).setSubscriptionConnectionMinimumIdleSize(1);
        config.setLockWatchdogTimeout(Long.parseLong(arguments[1]));
        return config;
    }

    /** URL WATCHDOG_MS OFFSET_NS ["cluster"]. */
    public static void main(String[] arguments) throws Exception {
        RedissonClient redisson = Redisson.create(configured(arguments));
        Peer peer = new Peer(redisson, Long.parseLong(arguments[1]),
                Long.parseLong(arguments[2]));
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
