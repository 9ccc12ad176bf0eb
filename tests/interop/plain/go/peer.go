// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A process that uses redsync and takes commands from stdin. ../peer.hpp describes them.
package main

import (
	"bufio"
	"context"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	pool "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

const retryDelay = 10 * time.Millisecond

type peer struct {
	locks *redsync.Redsync
	held  *redsync.Mutex
}

func milliseconds(text string) time.Duration {
	number, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return time.Duration(number) * time.Millisecond
}

func (p *peer) wait(name string, ttl, bound time.Duration) bool {
	limit, cancel := context.WithTimeout(context.Background(), bound+time.Second)
	defer cancel()
	mutex := p.locks.NewMutex(name, redsync.WithExpiry(ttl), redsync.WithRetryDelay(retryDelay),
		redsync.WithTries(1+int(bound/retryDelay)), redsync.WithTimeoutFactor(0.5))
	if mutex.LockContext(limit) != nil {
		return false
	}
	p.held = mutex
	return true
}

func (p *peer) takeAs(name string, ttl time.Duration, value string) bool {
	chosen := func() (string, error) { return value, nil }
	mutex := p.locks.NewMutex(name, redsync.WithExpiry(ttl), redsync.WithGenValueFunc(chosen))
	if mutex.TryLock() != nil {
		return false
	}
	p.held = mutex
	return true
}

func (p *peer) adopt(name string, ttl time.Duration, value string) bool {
	mutex := p.locks.NewMutex(name, redsync.WithExpiry(ttl), redsync.WithValue(value))
	if done, err := mutex.Extend(); !done || err != nil {
		return false
	}
	p.held = mutex
	return true
}

func (p *peer) give() bool {
	done, err := p.held.Unlock()
	return done && err == nil
}

func (p *peer) crowd(name string, ttl time.Duration, journal, stop, identity string) int {
	book, err := os.OpenFile(journal, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	defer book.Close()
	late := 0
	for {
		if _, err := os.Stat(stop); err == nil {
			return late
		}
		if p.wait(name, ttl, time.Second) {
			fmt.Fprintf(book, "in %s\n", identity)
			time.Sleep(time.Millisecond)
			fmt.Fprintf(book, "out %s\n", identity)
			if !p.give() {
				late++
			}
		}
		time.Sleep(time.Duration(rand.Intn(10)) * time.Millisecond)
	}
}

func (p *peer) answer(words []string) string {
	say := func(yes bool, then, otherwise string) string {
		if yes {
			return then
		}
		return otherwise
	}
	switch words[0] {
	case "take":
		return say(p.wait(words[1], milliseconds(words[2]), 0), "got", "busy")
	case "wait":
		return say(p.wait(words[1], milliseconds(words[2]), milliseconds(words[3])), "got", "busy")
	case "take_as":
		return say(p.takeAs(words[1], milliseconds(words[2]), words[3]), "got", "busy")
	case "adopt":
		return say(p.adopt(words[1], milliseconds(words[2]), words[3]), "got", "busy")
	case "give":
		return say(p.give(), "gave", "lost")
	default:
		late := p.crowd(words[1], milliseconds(words[2]), words[3], words[4], words[5])
		return fmt.Sprintf("late %d", late)
	}
}

func main() {
	var servers []redsyncredis.Pool
	for _, port := range strings.Split(os.Args[2], ",") {
		server := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port})
		servers = append(servers, pool.NewPool(server))
	}
	self := peer{locks: redsync.New(servers...)}
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Println(self.answer(strings.Fields(lines.Text())))
	}
}
