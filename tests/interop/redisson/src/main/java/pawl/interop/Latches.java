// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

package pawl.interop;

import java.util.concurrent.TimeUnit;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RedissonClient;

/** The verbs of RCountDownLatch; the same as in latch_peer.cpp. */
final class Latches {
    private Latches() {}

    static String execute(RedissonClient redisson, String[] words) throws Exception {
        RCountDownLatch latch = redisson.getCountDownLatch(words[1]);
        switch (words[0]) {
            case "latch_set":
                return "set " + latch.trySetCount(Long.parseLong(words[2]));
            case "latch_down":
                for (int i = Integer.parseInt(words[2]); i > 0; --i) latch.countDown();
                return "counted";
            case "latch_count":
                return "count " + latch.getCount();
            case "latch_wait":
                return latch.await(Long.parseLong(words[2]), TimeUnit.MILLISECONDS) ? "open"
                        : "late";
            case "latch_delete":
                return "deleted " + latch.delete();
            default:
                return "unknown command " + words[0];
        }
    }
}
