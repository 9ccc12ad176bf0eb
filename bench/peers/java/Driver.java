// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.redisson.Redisson;
import org.redisson.RedissonRedLock;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.SentinelServersConfig;

/**
 * Drives Redisson's RLock, FencedLock or RedLock for ../run.py: one command a line, one JSON object
 * a line back. ../README.md says what the commands are.
 */
public final class Driver {
    private final boolean fenced;
    private final String place;
    private final List<RedissonClient[]> clients = new ArrayList<>();
    private final Map<String, RLock> held = new HashMap<>();

    private Driver(boolean fenced, String place) {
        this.fenced = fenced;
        this.place = place;
    }

    /** One for each server. With several of them, Redisson's threads and pools are small. */
    private RedissonClient[] connectAll(long ttl) {
        if (!place.startsWith("redlock:")) return new RedissonClient[] {connect(ttl)};
        List<RedissonClient> all = new ArrayList<>();
        for (String port : place.substring("redlock:".length()).split(",")) {
            Config config = new Config().setThreads(4).setNettyThreads(2);
            config.useSingleServer().setAddress("redis://127.0.0.1:" + port)
                    .setConnectionMinimumIdleSize(1);
            config.setLockWatchdogTimeout(ttl);
            all.add(Redisson.create(config));
        }
        return all.toArray(new RedissonClient[0]);
    }

    /** Its default pools: 24 to 64 connections; the watchdog's timeout is the ttl. */
    private RedissonClient connect(long ttl) {
        Config config = new Config();
        if (place.startsWith("sentinel:")) {
            String[] parts = place.substring("sentinel:".length()).split("/");
            SentinelServersConfig sentinels = config.useSentinelServers().setMasterName(parts[1]);
            for (String port : parts[0].split(",")) {
                sentinels.addSentinelAddress("redis://127.0.0.1:" + port);
            }
        } else {
            config.useSingleServer().setAddress("redis://127.0.0.1:" + place);
        }
        config.setLockWatchdogTimeout(ttl);
        return Redisson.create(config);
    }

    synchronized RedissonClient[] client(int number) {
        while (clients.size() <= number) clients.add(connectAll(30_000));
        return clients.get(number);
    }

    RLock acquire(RedissonClient[] from, String name) {
        if (fenced) {
            RFencedLock lock = from[0].getFencedLock(name);
            lock.lockAndGetToken();
            return lock;
        }
        RLock lock = from[0].getLock(name);
        if (from.length > 1) {
            RLock[] parts = new RLock[from.length];
            for (int i = 0; i < from.length; ++i) parts[i] = from[i].getLock(name);
            lock = new RedissonRedLock(parts);
        }
        lock.lock();
        return lock;
    }

    static synchronized void say(String line) {
        System.out.println(line);
    }

    static String numbers(List<Double> values) {
        StringBuilder text = new StringBuilder("[");
        for (double each : values) {
            if (text.length() > 1) text.append(',');
            text.append(String.format(Locale.ROOT, "%.3f", each));
        }
        return text.append(']').toString();
    }

    interface Job {
        void run() throws InterruptedException;
    }

    /** A driver that fails must be seen to fail. */
    static Thread start(Job job) {
        Thread thread = new Thread(() -> {
            try {
                job.run();
            } catch (Throwable problem) {
                problem.printStackTrace();
                System.exit(1);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private String pairs(int users, double seconds) throws InterruptedException {
        RedissonClient[] from = client(0);
        AtomicLong count = new AtomicLong();
        List<Double> latencies = new ArrayList<>();
        List<Thread> crowd = new ArrayList<>();
        long began = System.nanoTime();
        for (int i = 0; i < users; ++i) {
            String name = "pair/" + i;
            crowd.add(start(() -> {
                long before = System.nanoTime();
                while (before - began < seconds * 1e9) {
                    acquire(from, name).unlock();
                    long now = System.nanoTime();
                    if (users == 1) latencies.add((now - before) / 1e3);
                    before = now;
                    count.incrementAndGet();
                }
            }));
        }
        for (Thread each : crowd) each.join();
        double spent = (System.nanoTime() - began) / 1e9;
        return String.format(Locale.ROOT, "{\"pairs\": %d, \"seconds\": %.6f, \"us\": %s}",
                count.get(), spent, numbers(latencies));
    }

    /** Users of one name pass it round: a user asks again only when another one has acquired it. */
    private final class Round {
        private final List<Double> latencies = new ArrayList<>();
        private volatile long released;
        private long turn;
        private boolean over;

        /** The number of this turn; 0 when the measurement is over. */
        private synchronized long enter(long now) {
            if (released != 0 && !over) latencies.add((now - released) / 1e3);
            ++turn;
            notifyAll();
            return over ? 0 : turn;
        }

        /** Waits until another user has the lock. Returns false when the measurement is over. */
        private synchronized boolean leave(long finished) throws InterruptedException {
            while (turn == finished && !over) wait();
            return !over;
        }

        synchronized void stop() {
            over = true;
            notifyAll();
        }

        void play(RedissonClient[] from) throws InterruptedException {
            for (boolean on = true; on;) {
                RLock lock = acquire(from, "hand");
                long current = enter(System.nanoTime());
                if (current != 0) {
                    Thread.sleep(2 + ThreadLocalRandom.current().nextInt(10));
                    released = System.nanoTime();
                }
                lock.unlock();
                on = current != 0 && leave(current);
            }
        }
    }

    private String handoff(int users, int clientCount, double seconds) throws InterruptedException {
        Round round = new Round();
        List<Thread> crowd = new ArrayList<>();
        for (int i = 0; i < users; ++i) {
            RedissonClient[] from = client(i % clientCount);
            crowd.add(start(() -> round.play(from)));
        }
        Thread.sleep((long) (seconds * 1000));
        round.stop();
        for (Thread each : crowd) each.join();
        return "{\"us\": " + numbers(round.latencies) + "}";
    }

    private String answer(String[] words) throws InterruptedException {
        switch (words[0]) {
            case "pairs":
                return pairs(Integer.parseInt(words[1]), Double.parseDouble(words[2]));
            case "handoff":
                return handoff(Integer.parseInt(words[1]), Integer.parseInt(words[2]),
                        Double.parseDouble(words[3]));
            case "take":
                held.put(words[1], acquire(client(0), words[1]));
                break;
            case "give":
                held.remove(words[1]).unlock();
                break;
            case "wait":
                RedissonClient[] other = client(1);
                start(() -> {
                    acquire(other, words[1]).unlock();
                    say("{\"got\": \"" + words[1] + "\"}");
                });
                break;
            case "watch":
                // The watchdog renews. Redisson does not report its failure to the program.
                acquire(connectAll(Long.parseLong(words[2])), words[1]);
                return "{\"key\": \"" + words[1] + "\"}";
            default:
                throw new IllegalArgumentException("unknown command " + words[0]);
        }
        return "{\"ok\": true}";
    }

    public static void main(String[] arguments) throws Exception {
        boolean fenced = arguments[0].equals("FencedLock");
        Driver driver = new Driver(fenced, arguments[1]);
        String version = Redisson.class.getPackage().getImplementationVersion();
        say(String.format("{\"version\": \"%s\", \"runtime\": \"Java %s\", \"warm\": 5}", version,
                System.getProperty("java.version")));
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null && !line.equals("quit");
                line = lines.readLine()) {
            say(driver.answer(line.split(" ")));
        }
        System.exit(0);
    }
}
