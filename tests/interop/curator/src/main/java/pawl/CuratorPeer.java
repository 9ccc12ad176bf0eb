// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

package pawl;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.retry.RetryOneTime;

/**
 * One lock of Curator at a time. Commands, one a line: "KIND PATH MILLISECONDS" with the kinds
 * mutex, write, read and latch answers "held" or "busy"; "release" answers "released"; "downgrade"
 * takes the read lock beside the write lock, releases the write lock, and answers "released".
 */
public final class CuratorPeer {
    private final CuratorFramework client;
    private InterProcessReadWriteLock pair;
    private InterProcessLock lock;
    private LeaderLatch latch;

    private CuratorPeer(String servers) {
        client = CuratorFrameworkFactory.newClient(servers, 4000, 4000, new RetryOneTime(100));
        client.start();
    }

    private String acquire(String kind, String path, long milliseconds) throws Exception {
        if (kind.equals("latch")) {
            latch = new LeaderLatch(client, path, "java");
            latch.start();
            final boolean leads = latch.await(milliseconds, TimeUnit.MILLISECONDS);
            if (!leads) {
                latch.close();
                latch = null;
            }
            return leads ? "held" : "busy";
        }
        pair = new InterProcessReadWriteLock(client, path);
        lock = kind.equals("mutex") ? new InterProcessMutex(client, path)
            : kind.equals("read") ? pair.readLock() : pair.writeLock();
        return lock.acquire(milliseconds, TimeUnit.MILLISECONDS) ? "held" : "busy";
    }

    private String release() throws Exception {
        if (latch != null) {
            latch.close();
            latch = null;
        } else {
            lock.release();
        }
        return "released";
    }

    private String downgrade() throws Exception {
        pair.readLock().acquire();
        lock.release();
        lock = pair.readLock();
        return "released";
    }

    public static void main(String[] arguments) throws Exception {
        final CuratorPeer peer = new CuratorPeer(arguments[0]);
        final BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            final String[] words = line.split(" ");
            String reply;
            try {
                reply = words[0].equals("release") ? peer.release()
                    : words[0].equals("downgrade") ? peer.downgrade()
                    : peer.acquire(words[0], words[1], Long.parseLong(words[2]));
            } catch (Exception failed) {
                reply = "failed " + failed;
            }
            System.out.println(reply);
            System.out.flush();
        }
        System.exit(0);
    }
}
