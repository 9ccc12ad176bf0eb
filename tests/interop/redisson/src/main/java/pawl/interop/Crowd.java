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
 * contend NAMES THREADS TIMES LOG GATES: each thread acquires TIMES times, the names in turn, and
 * records each hold. NAMES are separated by commas, and each has its gate. A name that begins with
 * "rw" gets three read locks for each write lock.
 */
final class Crowd {
    private static final VarHandle LONGS =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private final Peer peer;
    private final String[] names;
    private final int threads;
    private final int times;
    private final String log;
    /** The gates, shared with the other processes, as in peer.hpp. */
    private final ByteBuffer gates;
    private static final int GATE_SIZE = 32;
    private static final int INSIDE = 0;
    private static final int VIOLATIONS = 8;
    private static final int READERS = 16;
    private static final int MEETINGS = 24;

    Crowd(Peer peer, String[] words) throws Exception {
        this.peer = peer;
        names = words[1].split(",");
        threads = Integer.parseInt(words[2]);
        times = Integer.parseInt(words[3]);
        log = words[4];
        try (FileChannel file = FileChannel.open(Path.of(words[5]), StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            gates = file.map(FileChannel.MapMode.READ_WRITE, 0, (long) GATE_SIZE * names.length);
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
        if (!problems.isEmpty()) return "failed " + causes(problems.get(0));
        try (PrintWriter out = new PrintWriter(log)) {
            for (List<String> records : written) records.forEach(out::println);
        }
        return "done";
    }

    private static String causes(Throwable problem) {
        StringBuilder text = new StringBuilder(problem.toString());
        for (Throwable each = problem.getCause(); each != null; each = each.getCause())
            text.append("; ").append(each);
        return text.toString();
    }

    private static boolean isCounted(String name) {
        return name.startsWith("permits") || name.startsWith("semaphore");
    }

    private void pass(int index, boolean reads, int count) {
        int gate = index * GATE_SIZE;
        if (reads) {
            if (add(gate + READERS, 1) > 1) add(gate + MEETINGS, 1);
            if (add(gate + INSIDE, 0) != 0) add(gate + VIOLATIONS, 1);
        } else {
            long inside = add(gate + INSIDE, count);
            if (inside > (isCounted(names[index]) ? Acquirer.PERMITS : 1)
                    || add(gate + READERS, 0) != 0)
                add(gate + VIOLATIONS, 1);
            if (inside > count) add(gate + MEETINGS, 1);
        }
        Thread.yield();
        if (reads)
            add(gate + READERS, -1);
        else
            add(gate + INSIDE, -count);
    }

    private long add(int at, long count) {
        return (long) LONGS.getAndAdd(gates, at, count) + count;
    }

    private void contend(List<String> written) throws InterruptedException {
        for (int i = 0; i < times; ++i) {
            int index = i % names.length;
            int turn = i / names.length;
            String name = names[index];
            boolean both = name.startsWith("rw");
            boolean reads = both && turn % 4 != 0;
            int count = isCounted(name) ? 1 + turn % 2 : 1;
            long invoked = peer.now();
            String object = both ? (reads ? "read:" : "write:") + name : name;
            Acquirer.Hold hold = peer.acquirer().acquire(object, turn, count);
            long returned = peer.now();
            pass(index, reads, count);
            long ended = peer.now();
            hold.end().run();
            written.add(index + " " + hold.token() + " " + invoked + " " + returned + " " + ended);
        }
    }
}
