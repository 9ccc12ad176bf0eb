// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

package pawl.interop;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** ShedLock behind a line protocol: one command a line, one reply a line, all in one thread. */
public final class ShedLockPeer {
    private final LockProvider provider;
    private final Map<String, SimpleLock> held = new HashMap<>();

    private ShedLockPeer(LockProvider provider) {
        this.provider = provider;
    }

    private Optional<SimpleLock> lock(String name, long atMost, long atLeast) {
        return provider.lock(new LockConfiguration(Instant.now(), name, Duration.ofMillis(atMost),
                Duration.ofMillis(atLeast)));
    }

    private String remember(String name, Optional<SimpleLock> lock) {
        lock.ifPresent(each -> held.put(name, each));
        return lock.isPresent() ? "held" : "empty";
    }

    /**
     * Adds 1 to the number in the file, `times` times, each time with the lock. The pauses let
     * waiters that poll seldom have a turn.
     */
    private String count(String name, int times, Path file) throws Exception {
        for (int i = 0; i < times;) {
            Thread.sleep(ThreadLocalRandom.current().nextInt(50));
            Optional<SimpleLock> lock = lock(name, 60000, 0);
            if (lock.isEmpty()) continue;
            long number = Long.parseLong(Files.readString(file).strip());
            Thread.yield();
            Files.writeString(file, (number + 1) + "\n");
            lock.get().unlock();
            ++i;
        }
        return "done";
    }

    private String execute(String[] words) throws Exception {
        String name = words[1];
        switch (words[0]) {
            case "lock":
                return remember(name,
                        lock(name, Long.parseLong(words[2]), Long.parseLong(words[3])));
            case "extend":
                return remember(name,
                        held.get(name).extend(Duration.ofMillis(Long.parseLong(words[2])),
                                Duration.ZERO));
            case "unlock":
                held.get(name).unlock();
                return "unlocked";
            case "count":
                return count(name, Integer.parseInt(words[2]), Path.of(words[3]));
            default:
                return "unknown command " + words[0];
        }
    }

    /** JDBC_URL. */
    public static void main(String[] arguments) throws Exception {
        JdbcTemplate database =
                new JdbcTemplate(new SingleConnectionDataSource(arguments[0], true));
        ShedLockPeer peer = new ShedLockPeer(
                new JdbcTemplateLockProvider(JdbcTemplateLockProvider.Configuration.builder()
                        .withJdbcTemplate(database).usingDbTime().build()));
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
    }
}
