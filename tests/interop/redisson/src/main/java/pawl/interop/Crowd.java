// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

package pawl.interop;

import java.io.PrintWriter;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * contend NAME THREADS TIMES LOG GATE: each thread acquires TIMES times and records each hold. A
 * name that begins with "rw" gets three read locks for each write lock.
 */
final class Crowd {
    private static final VarHandle LONGS =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private final Peer peer;
    private final String name;
    private final int threads;
    private final int times;
    private final String log;
    /** Shared with the other processes, as in peer.hpp. */
    private final ByteBuffer gate;
    private static final int INSIDE = 0;
    private static final int VIOLATIONS = 8;
    private static final int READERS = 16;
    private static final int MEETINGS = 24;

    Crowd(Peer peer, String[] words) throws Exception {
        this.peer = peer;
        name = words[1];
        threads = Integer.parseInt(words[2]);
        times = Integer.parseInt(words[3]);
        log = words[4];
        try (FileChannel file = FileChannel.open(Path.of(words[5]), StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            gate = file.map(FileChannel.MapMode.READ_WRITE, 0, 32);
        }
    }

    String run() throws Exception {
        List<Thread> running = new ArrayList<>();
        List<List<String>> written = new ArrayList<>();
        List<Throwable> problems = new ArrayList<>();
        for (int i = 0; i < threads; ++i) {
            List<String> records = new ArrayList<>();
            written.add(records);
            Thread thread = new Thread(() -> {
                try {
                    contend(records);
                } catch (Throwable problem) {
                    synchronized (problems) {
                        problems.add(problem);
                    }
                }
            });
            running.add(thread);
            thread.start();
        }
        for (Thread thread : running) thread.join();
        if (!problems.isEmpty()) return "failed " + problems.get(0);
        try (PrintWriter out = new PrintWriter(log)) {
            for (List<String> records : written) records.forEach(out::println);
        }
        return "done";
    }

    private long add(int at, long count) {
        return (long) LONGS.getAndAdd(gate, at, count) + count;
    }

    private void pass(boolean reads, int count) {
        boolean permits = name.startsWith("permits") || name.startsWith("semaphore");
        if (reads) {
            if (add(READERS, 1) > 1) add(MEETINGS, 1);
            if (add(INSIDE, 0) != 0) add(VIOLATIONS, 1);
        } else {
            long inside = add(INSIDE, count);
            if (inside > (permits ? Acquirer.PERMITS : 1) || add(READERS, 0) != 0)
                add(VIOLATIONS, 1);
            if (inside > count) add(MEETINGS, 1);
        }
        Thread.yield();
        if (reads)
            add(READERS, -1);
        else
            add(INSIDE, -count);
    }

    private void contend(List<String> written) throws InterruptedException {
        boolean both = name.startsWith("rw");
        boolean permits = name.startsWith("permits") || name.startsWith("semaphore");
        for (int i = 0; i < times; ++i) {
            boolean reads = both && i % 4 != 0;
            int count = permits ? 1 + i % 2 : 1;
            long invoked = peer.now();
            String object = both ? (reads ? "read:" : "write:") + name : name;
            Acquirer.Hold hold = peer.acquirer().acquire(object, i, count);
            long returned = peer.now();
            pass(reads, count);
            long ended = peer.now();
            hold.end().run();
            written.add(hold.token() + " " + invoked + " " + returned + " " + ended);
        }
    }
}
