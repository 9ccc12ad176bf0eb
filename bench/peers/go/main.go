// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Drives redsync or rueidislock for ../run.py: one command a line, one JSON object a line in reply.
// ../README.md describes the commands.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const holdFor = 30 * time.Second

// Releases the hold.
type hold func()

// The operations that a driver needs from a library. Each client has its own connections.
type client interface {
	acquire(name string) hold
}

type library interface {
	newClient(ttl time.Duration) client
	version() string
	// The longest pause between two requests of a waiter; zero if the waiter is notified.
	pollInterval() time.Duration
	// Holds the lock and has it renewed. Returns its key, and calls `lost` when the loss is reported.
	watch(name string, ttl time.Duration, lost func(how string)) (key string)
}

var output sync.Mutex

func say(line any) {
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	output.Lock()
	defer output.Unlock()
	fmt.Println(string(text))
}

type object = map[string]any

type driver struct {
	locks   library
	clients []client
	held    map[string]hold
}

func (d *driver) client(number int) client {
	for len(d.clients) <= number {
		d.clients = append(d.clients, d.locks.newClient(holdFor))
	}
	return d.clients[number]
}

func microseconds(span time.Duration) float64 { return float64(span.Nanoseconds()) / 1e3 }

func seconds(word string) time.Duration {
	value, err := strconv.ParseFloat(word, 64)
	if err != nil {
		panic(err)
	}
	return time.Duration(value * float64(time.Second))
}

func number(word string) int {
	value, err := strconv.Atoi(word)
	if err != nil {
		panic(err)
	}
	return value
}

func (d *driver) pairs(users int, span time.Duration) object {
	from := d.client(0)
	var all sync.WaitGroup
	var count atomic.Int64
	taken := []float64{}
	began := time.Now()
	for user := range users {
		all.Add(1)
		go func() {
			defer all.Done()
			name := fmt.Sprintf("pair/%d", user)
			for time.Since(began) < span {
				before := time.Now()
				from.acquire(name)()
				if users == 1 {
					taken = append(taken, microseconds(time.Since(before)))
				}
				count.Add(1)
			}
		}()
	}
	all.Wait()
	return object{"pairs": count.Load(), "seconds": time.Since(began).Seconds(), "us": taken}
}

// Users of one name pass it round: a user that has released asks again only after another user has
// it.
type round struct {
	mutex    sync.Mutex
	next     *sync.Cond
	turn     int
	over     bool
	released time.Time
	taken    []float64
}

func (r *round) play(from client, name string, pause func() time.Duration) {
	for {
		lock := from.acquire(name)
		now := time.Now()
		r.mutex.Lock()
		if !r.released.IsZero() && !r.over {
			r.taken = append(r.taken, microseconds(now.Sub(r.released)))
		}
		r.turn++
		current := r.turn
		over := r.over
		r.next.Broadcast()
		r.mutex.Unlock()
		if over {
			lock()
			return
		}
		time.Sleep(pause())
		r.mutex.Lock()
		r.released = time.Now()
		r.mutex.Unlock()
		lock()
		r.mutex.Lock()
		for r.turn == current && !r.over {
			r.next.Wait()
		}
		over = r.over
		r.mutex.Unlock()
		if over {
			return
		}
	}
}

func (d *driver) handoff(users, clients int, span time.Duration) object {
	r := &round{taken: []float64{}}
	r.next = sync.NewCond(&r.mutex)
	spread := 10 * time.Millisecond
	if users == 2 {
		spread = max(spread, d.locks.pollInterval())
	}
	pause := func() time.Duration {
		return 2*time.Millisecond + time.Duration(rand.Int63n(int64(spread)))
	}
	var all sync.WaitGroup
	for user := range users {
		from := d.client(user % clients)
		all.Add(1)
		go func() {
			defer all.Done()
			r.play(from, "hand", pause)
		}()
	}
	time.Sleep(span)
	r.mutex.Lock()
	r.over = true
	r.next.Broadcast()
	r.mutex.Unlock()
	all.Wait()
	return object{"us": r.taken}
}

func (d *driver) answer(words []string) object {
	switch words[0] {
	case "pairs":
		return d.pairs(number(words[1]), seconds(words[2]))
	case "handoff":
		return d.handoff(number(words[1]), number(words[2]), seconds(words[3]))
	case "take":
		d.held[words[1]] = d.client(0).acquire(words[1])
	case "give":
		d.held[words[1]]()
	case "wait":
		other := d.client(1)
		go func() {
			other.acquire(words[1])()
			say(object{"got": words[1]})
		}()
	case "watch":
		ttl := time.Duration(number(words[2])) * time.Millisecond
		key := d.locks.watch(words[1], ttl, func(how string) { say(object{"lost": how}) })
		return object{"key": key}
	default:
		panic("unknown command " + words[0])
	}
	return object{"ok": true}
}

func main() {
	libraries := map[string]func(string) library{"redsync": newRedsync, "rueidislock": newRueidis}
	d := driver{locks: libraries[os.Args[1]](os.Args[2]), held: map[string]hold{}}
	say(object{"version": d.locks.version(), "runtime": runtime.Version(), "warm": 0.5})
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if words[0] == "quit" {
			return
		}
		say(d.answer(words))
	}
}
