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
 * contend NAME THREADS TIMES LOG GATE: as many acquisitions by each thread, each written down. A
 * name that begins with "rw" is read three times for each time that it is written.
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
    private static final int WRONG = 8;
    private static final int READERS = 16;
    private static final int TOGETHER = 24;

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
        List<Thread> crowd = new ArrayList<>();
        List<List<String>> written = new ArrayList<>();
        List<Throwable> problems = new ArrayList<>();
        for (int i = 0; i < threads; ++i) {
            List<String> mine = new ArrayList<>();
            written.add(mine);
            Thread one = new Thread(() -> {
                try {
                    contend(mine);
                } catch (Throwable problem) {
                    synchronized (problems) {
                        problems.add(problem);
                    }
                }
            });
            crowd.add(one);
            one.start();
        }
        for (Thread one : crowd) one.join();
        if (!problems.isEmpty()) return "failed " + problems.get(0);
        try (PrintWriter out = new PrintWriter(log)) {
            for (List<String> mine : written) mine.forEach(out::println);
        }
        return "done";
    }

    private long add(int at, long count) {
        return (long) LONGS.getAndAdd(gate, at, count) + count;
    }

    private void pass(boolean reads, int count) {
        boolean permits = name.startsWith("permits") || name.startsWith("semaphore");
        if (reads) {
            if (add(READERS, 1) > 1) add(TOGETHER, 1);
            if (add(INSIDE, 0) != 0) add(WRONG, 1);
        } else {
            long inside = add(INSIDE, count);
            if (inside > (permits ? Taker.PERMITS : 1) || add(READERS, 0) != 0) add(WRONG, 1);
            if (inside > count) add(TOGETHER, 1);
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
            Taker.Taken one =
                    peer.taker().take(both ? (reads ? "read:" : "write:") + name : name, i, count);
            long returned = peer.now();
            pass(reads, count);
            long ended = peer.now();
            one.end().run();
            written.add(one.token() + " " + invoked + " " + returned + " " + ended);
        }
    }
}
