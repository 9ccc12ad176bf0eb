// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

package main

import (
	"context"
	"math"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	pool "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

const users = 64

func versionOf(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, each := range info.Deps {
		if each.Path == module {
			return each.Version
		}
	}
	return "unknown"
}

type redsyncLibrary struct{ addresses []string }

type redsyncClient struct {
	locks *redsync.Redsync
	ttl   time.Duration
}

func newRedsync(place string) library {
	var addresses []string
	for _, port := range strings.Split(strings.TrimPrefix(place, "redlock:"), ",") {
		addresses = append(addresses, "127.0.0.1:"+port)
	}
	return redsyncLibrary{addresses}
}

func (redsyncLibrary) version() string { return versionOf("github.com/go-redsync/redsync/v4") }

// Its default: a random delay of 50 to 250 ms.
func (redsyncLibrary) pollInterval() time.Duration { return 250 * time.Millisecond }

func (r redsyncLibrary) newClient(ttl time.Duration) client {
	var pools []redsyncredis.Pool
	for _, address := range r.addresses {
		server := redis.NewClient(&redis.Options{Addr: address, PoolSize: users})
		pools = append(pools, pool.NewPool(server))
	}
	return redsyncClient{redsync.New(pools...), ttl}
}

// Default delays, and as many tries as needed.
func (c redsyncClient) lock(name string) *redsync.Mutex {
	mutex := c.locks.NewMutex(name, redsync.WithExpiry(c.ttl), redsync.WithTries(math.MaxInt32))
	if err := mutex.Lock(); err != nil {
		panic(err)
	}
	return mutex
}

func (c redsyncClient) acquire(name string) hold {
	mutex := c.lock(name)
	return func() {
		if _, err := mutex.Unlock(); err != nil {
			panic(err)
		}
	}
}

// It has neither renewal nor a signal of loss. A careful program calls Extend every ttl/3 and does
// not work past Until().
func (r redsyncLibrary) watch(name string, ttl time.Duration, lost func(string)) string {
	mutex := r.newClient(ttl).(redsyncClient).lock(name)
	var until atomic.Pointer[time.Time]
	note := func() {
		when := mutex.Until()
		until.Store(&when)
	}
	note()
	go func() {
		for range time.Tick(ttl / 3) {
			_, _ = mutex.Extend()
			note()
		}
	}()
	go func() {
		for left := time.Until(*until.Load()); left > 0; left = time.Until(*until.Load()) {
			time.Sleep(left)
		}
		lost("Until() has passed, by the program's own timer")
	}()
	return name
}

type rueidisLibrary struct{ server rueidis.ClientOption }

type rueidisClient struct{ locks rueidislock.Locker }

func newRueidis(place string) library {
	sentinels, isSentinel := strings.CutPrefix(place, "sentinel:")
	if !isSentinel {
		return rueidisLibrary{rueidis.ClientOption{InitAddress: []string{"127.0.0.1:" + place}}}
	}
	ports, master, _ := strings.Cut(sentinels, "/")
	server := rueidis.ClientOption{Sentinel: rueidis.SentinelOption{MasterSet: master}}
	for _, port := range strings.Split(ports, ",") {
		server.InitAddress = append(server.InitAddress, "127.0.0.1:"+port)
	}
	return rueidisLibrary{server}
}

func (rueidisLibrary) version() string { return versionOf("github.com/redis/rueidis") }

func (rueidisLibrary) pollInterval() time.Duration { return 0 }

// As its README recommends for one server of 7.0.5 or later. But with the default TryNextAfter of
// 20 ms, an acquire whose reply takes longer waits for ever: it deletes its own key, and NOLOOP
// hides that deletion from itself.
func (r rueidisLibrary) newClient(ttl time.Duration) client {
	locks, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption:   r.server,
		KeyMajority:    1,
		NoLoopTracking: true,
		KeyValidity:    ttl,
		TryNextAfter:   time.Second,
	})
	if err != nil {
		panic(err)
	}
	return rueidisClient{locks}
}

func (c rueidisClient) acquire(name string) hold {
	_, cancel, err := c.locks.WithContext(context.Background(), name)
	if err != nil {
		panic(err)
	}
	return hold(cancel)
}

func (r rueidisLibrary) watch(name string, ttl time.Duration, lost func(string)) string {
	locks := r.newClient(ttl).(rueidisClient).locks
	held, _, err := locks.WithContext(context.Background(), name)
	if err != nil {
		panic(err)
	}
	go func() {
		<-held.Done()
		lost("its context is cancelled")
	}()
	return "rueidislock:0:" + name
}
