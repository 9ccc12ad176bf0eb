// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

package pawl.interop;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.ReadMode;

/**
 * Redisson behind a line protocol: one command a line, one reply a line, all in one thread. The
 * same verbs as in peer.cpp.
 */
public final class Peer {
    private final RedissonClient redisson;
    private final Acquirer acquirer;
    /** Converts System.nanoTime() to nanoseconds of the boot clock. */
    private final long offset;
    private final Map<String, Deque<Acquirer.Hold>> held = new HashMap<>();
    private final long lease;
    private Storm storm;

    private Peer(List<RedissonClient> nodes, long lease, long offset) {
        this.redisson = nodes.get(0);
        this.lease = lease;
        acquirer = new Acquirer(nodes, lease);
        this.offset = offset;
    }

    Acquirer acquirer() {
        return acquirer;
    }

    long now() {
        return System.nanoTime() + offset;
    }

    private String lock(String name, int count) throws Exception {
        Acquirer.Hold hold = acquirer.acquire(name, 0, count);
        held.computeIfAbsent(name, key -> new ArrayDeque<>()).push(hold);
        return "held " + hold.token() + " " + now();
    }

    private String unlock(String name) {
        long before = now();
        Deque<Acquirer.Hold> holds = held.get(name);
        if (holds == null || holds.isEmpty())
            acquirer.lock(name).unlock();
        else
            holds.pop().end().run();
        return "unlocked " + before;
    }

    private String inspect(String name) {
        if (name.startsWith("permits"))
            return "seen " + acquirer.permits(name).availablePermits() + " "
                    + acquirer.permits(name).getPermits();
        if (name.startsWith("semaphore"))
            return "seen " + acquirer.semaphore(name).availablePermits();
        RLock lock = acquirer.lock(name);
        return "seen " + lock.isLocked() + " " + lock.remainTimeToLive() + " "
                + lock.getHoldCount();
    }

    private String execute(String[] words) throws Exception {
        if (words[0].startsWith("latch_")) return Latches.execute(redisson, words);
        String name = words.length > 1 ? words[1] : "none";
        switch (words[0]) {
            case "lock":
                return lock(name, words.length > 2 ? Integer.parseInt(words[2]) : 1);
            case "unlock":
                return unlock(name);
            case "try":
                return acquirer.lock(name).tryLock() ? "held" : "busy";
            case "see":
                return inspect(name);
            case "force":
                return "forced " + acquirer.lock(name).forceUnlock();
            case "contend":
                return new Crowd(this, words).run();
            case "storm":
                storm = new Storm(this, redisson, lease, words[1]);
                return "storming " + redisson.getId();
            case "calm":
                storm.finish();
                return "calm";
            default:
                return "unknown command " + words[0];
        }
    }

    /** The addresses are nodes of a cluster, or Sentinels: SENTINELS:MASTER. */
    private static Config makeConfig(String[] arguments) {
        Config config = new Config();
        String[] addresses = arguments[0].split(",");
        String kind = arguments.length > 3 ? arguments[3] : "server";
        if (kind.equals("cluster"))
            config.useClusterServers().addNodeAddress(addresses);
        else if (kind.startsWith("sentinels:"))
            // The storm reads what it holds, which replicas may not know yet.
            config.useSentinelServers().addSentinelAddress(addresses)
                    .setMasterName(kind.substring("sentinels:".length()))
                    .setReadMode(ReadMode.MASTER);
        else
            config.useSingleServer().setAddress(arguments[0]).setConnectionMinimumIdleSize(2)
                    .setConnectionPoolSize(8).setSubscriptionConnectionMinimumIdleSize(1);
        config.setLockWatchdogTimeout(Long.parseLong(arguments[1]));
        return config;
    }

    private static List<RedissonClient> connect(String[] arguments) {
        if (arguments.length < 4 || !arguments[3].equals("redlock"))
            return List.of(Redisson.create(makeConfig(arguments)));
        List<RedissonClient> nodes = new ArrayList<>();
        for (String each : arguments[0].split(","))
            nodes.add(Redisson.create(makeConfig(new String[] {each, arguments[1]})));
        return nodes;
    }

    /** URL[,URL…] WATCHDOG_MS OFFSET_NS [cluster | sentinels:MASTER | redlock]. */
    public static void main(String[] arguments) throws Exception {
        List<RedissonClient> nodes = connect(arguments);
        Peer peer = new Peer(nodes, Long.parseLong(arguments[1]),
                Long.parseLong(arguments[2]));
        System.out.println("ready");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String reply;
            try {
                reply = peer.execute(line.split(" "));
            } catch (Exception problem) {
                reply = "failed " + problem;
            }
            System.out.println(reply);
        }
        nodes.forEach(RedissonClient::shutdown);
    }
}
