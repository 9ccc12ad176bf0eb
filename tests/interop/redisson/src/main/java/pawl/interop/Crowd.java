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
import org.redisson.api.RLock;

/** contend NAME THREADS TIMES LOG GATE: as many acquisitions by each thread, each written down. */
final class Crowd {
    private static final VarHandle LONGS =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private final Peer peer;
    private final String name;
    private final int threads;
    private final int times;
    private final String log;
    /** Shared with the other processes: how many are inside, and how often there was another. */
    private final ByteBuffer gate;

    Crowd(Peer peer, String[] words) throws Exception {
        this.peer = peer;
        name = words[1];
        threads = Integer.parseInt(words[2]);
        times = Integer.parseInt(words[3]);
        log = words[4];
        try (FileChannel file = FileChannel.open(Path.of(words[5]), StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            gate = file.map(FileChannel.MapMode.READ_WRITE, 0, 16);
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

    private void contend(List<String> written) throws InterruptedException {
        RLock lock = peer.lock(name);
        for (int i = 0; i < times; ++i) {
            long invoked = peer.now();
            long token = Peer.acquire(lock, i);
            long returned = peer.now();
            if ((long) LONGS.getAndAdd(gate, 0, 1L) != 0) LONGS.getAndAdd(gate, 8, 1L);
            Thread.yield();
            LONGS.getAndAdd(gate, 0, -1L);
            long ended = peer.now();
            lock.unlock();
            written.add(token + " " + invoked + " " + returned + " " + ended);
        }
    }
}
