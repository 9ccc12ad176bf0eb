-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- The rules of the queue, for the functions of 3_locks.sql. The caller has locked the row of the
-- name, and passes it as `l`; a function that returns `l` has changed it. Each statement of a
-- function sees what was committed before it, so what these functions read is true while the row is
-- locked. One statement with sub-statements would not do: it sees the tables as of its start,
-- before it waited for the row, and loses waiters.

-- The time in 1/65536 s since 2024: the lower part of a new token.
create function @.ticks() returns bigint language sql volatile as $$
    select ((extract(epoch from clock_timestamp()) - 1704067200) * 65536)::bigint
$$;

-- Not immutable: PostgreSQL would not put it into the expression that calls it.
create function @.microseconds(t timestamptz) returns bigint language sql stable as $$
    select (extract(epoch from t) * 1000000)::bigint
$$;

-- In ms, rounded up.
create function @.until(t timestamptz) returns bigint language sql volatile as $$
    select greatest(0, ceil(extract(epoch from t - clock_timestamp()) * 1000))::bigint
$$;

-- A client holds an advisory lock for as long as its connection lives. Every role may see that, but
-- not conclude the client's number, which names its channel: it is the lock's number before a hash.
create function @.is_alive(p_client text, p_caller text) returns boolean
language sql volatile as $$
    select p_client = p_caller
        or not pg_try_advisory_xact_lock_shared(
            ('x' || left(encode(sha256(decode(p_client, 'hex')), 'hex'), 16))::bit(64)::bigint)
$$;

-- A message for a client. notify_1 sends it, after the commit: a NOTIFY in a transaction that is
-- flushed to the disk lets no other such transaction commit meanwhile. It returns a text, because a
-- call of a void function is planned each time.
create function @.notify(p_client text, p_message text) returns text language sql volatile as $$
    select set_config('pawl.messages', (coalesce(nullif(current_setting('pawl.messages', true), ''),
        '[]')::jsonb || jsonb_build_array(p_client, p_message))::text, false)
$$;

-- One update for all changes of the row: each would be a version of its own.
create function @.write(l @.lock) returns void language plpgsql as $$
begin
    update @.lock k set fence = l.fence, expires = l.expires, since = l.since, ttl = l.ttl,
        holders = l.holders, waiting = l.waiting, total = l.total, owner = l.owner,
        client = l.client, who = l.who, value = l.value
        where k.ns = l.ns and k.name = l.name;
end $$;

-- The row without its exclusive hold.
create function @.without_owner(l @.lock) returns @.lock language plpgsql as $$
begin
    l.owner := null;
    l.client := null;
    l.who := null;
    l.value := null;
    return l;
end $$;

-- Ends the leases that are over, and writes that.
create function @.expire(l @.lock) returns @.lock language plpgsql as $$
declare
    t timestamptz := clock_timestamp();
begin
    if l.owner is not null and l.expires <= t then
        l := @.without_owner(l);
        perform @.write(l);
    end if;
    if l.holders > 0 then
        delete from @.holder h where h.ns = l.ns and h.name = l.name and h.expires <= t;
        if found then
            l.holders := (select count(*) from @.holder h where h.ns = l.ns and h.name = l.name);
            perform @.write(l);
        end if;
    end if;
    return l;
end $$;

-- True if a claim fits beside the holders. The leases that are over have been ended.
create function @.fits(l @.lock, p_mode int, p_permits int) returns boolean
language plpgsql as $$
declare
    readers bigint;
    used bigint;
begin
    if l.owner is not null then return false; end if;
    if l.holders = 0 then return p_mode <> 2 or p_permits <= l.total; end if;
    if p_mode = 0 then return false; end if;
    select count(*) filter (where h.mode = 1), coalesce(sum(h.permits) filter (where h.mode = 2), 0)
        into readers, used from @.holder h where h.ns = l.ns and h.name = l.name;
    if p_mode = 1 then return used = 0; end if;
    return readers = 0 and used + p_permits <= l.total;
end $$;

-- Grants the lock: `fence` is the token, `expires` the lease's end. The caller writes the row.
-- Readers that join others share their token, which is the newest one of the lock; but not a token
-- of an earlier timeline, since a newer one may have been lost in the failover.
create function @.give(l @.lock, p_floor bigint, p_owner text, p_client text, p_who text,
    p_value text, p_ttl int, p_mode int, p_permits int) returns @.lock
language plpgsql as $$
declare
    t timestamptz;
begin
    if p_mode <> 1 or l.holders = 0 or l.fence < p_floor then
        l.fence := greatest(l.fence + 1, p_floor + @.ticks());
    end if;
    t := clock_timestamp();
    l.expires := t + p_ttl * interval '1 ms';
    if p_mode = 0 then
        l.owner := p_owner;
        l.client := p_client;
        l.who := p_who;
        l.value := p_value;
        l.ttl := p_ttl;
        l.since := t;
    else
        l.holders := l.holders + 1;
        insert into @.holder values (l.fence, l.expires, t, p_ttl, p_mode, p_permits,
            l.ns, l.name, p_owner, p_client, p_who);
    end if;
    return l;
end $$;

-- The first end of a lease, or of the pause after a failover; null without either.
create function @.first_end(l @.lock) returns timestamptz language plpgsql as $$
declare
    first_expiry timestamptz;
    pause timestamptz;
begin
    if l.owner is not null then return l.expires; end if;
    if l.holders > 0 then
        select min(h.expires) into first_expiry from @.holder h
            where h.ns = l.ns and h.name = l.name;
    end if;
    select b.hold_off into pause from @.boot b where b.hold_off > clock_timestamp();
    return least(first_expiry, pause);
end $$;

-- Tells the first two waiters when the lease that they wait for ends: they look then, if no other
-- message comes before. A holder that was served may have stopped and never renew, and so may the
-- first waiter.
create function @.tell_first(l @.lock) returns void language plpgsql as $$
declare
    w @.waiter;
begin
    for w in select * from @.waiter q where q.ns = l.ns and q.name = l.name order by q.seq limit 2
    loop
        if w.expires is null then
            perform @.notify(w.client, concat_ws(' ', 'n', w.owner, @.until(@.first_end(l))));
        end if;
    end loop;
end $$;

-- Ends the leases that are over, and grants the lock to the first waiters as long as they fit.
-- `p_owner`, or null, is the claim of the caller, which is alive: it gets its whole ttl and no
-- message. The others get a claim window of 1.8 s, in which they must renew. Writes the row if it
-- has changed, or if the caller has changed it.
create function @.serve(l @.lock, p_owner text, p_client text, p_was_changed boolean)
returns @.lock
language plpgsql as $$
declare
    b @.boot;
    w @.waiter;
    is_own boolean;
    waiting_before int;
    claim_window int;
begin
    l := @.expire(l);
    waiting_before := l.waiting;
    if l.waiting > 0 and l.owner is null then
        select * into b from @.boot k where k.hold_off is null or k.hold_off <= clock_timestamp();
    end if;
    if b.one is not null then
        for w in select * from @.waiter q where q.ns = l.ns and q.name = l.name order by q.seq loop
            is_own := w.owner is not distinct from p_owner;
            if not is_own and (w.expires <= clock_timestamp()
                    or w.expires is null and not @.is_alive(w.client, p_client)) then
                delete from @.waiter q where q.ns = l.ns and q.name = l.name and q.seq = w.seq;
                l.waiting := l.waiting - 1;
                continue;
            end if;
            if w.mode = 2 and w.permits > coalesce(l.total, 0) then
                -- The woken waiter looks, and gets the error.
                delete from @.waiter q where q.ns = l.ns and q.name = l.name and q.seq = w.seq;
                l.waiting := l.waiting - 1;
                if w.expires is null then perform @.notify(w.client, 'w ' || w.owner); end if;
                continue;
            end if;
            exit when not @.fits(l, w.mode, w.permits);
            delete from @.waiter q where q.ns = l.ns and q.name = l.name and q.seq = w.seq;
            l.waiting := l.waiting - 1;
            claim_window := case when is_own then w.ttl else least(w.ttl, 1800) end;
            l := @.give(l, b.floor, w.owner, w.client, w.who, w.value, claim_window, w.mode,
                w.permits);
            if not is_own and w.expires is null then
                -- The time of the lease's begin: the server may have stopped since.
                perform @.notify(w.client, concat_ws(' ', 'g', w.owner, l.fence, claim_window,
                    @.microseconds(l.expires) - claim_window * 1000));
            end if;
            exit when w.mode = 0;
        end loop;
    end if;
    if p_was_changed or l.waiting <> waiting_before then perform @.write(l); end if;
    if l.waiting > 0 and l.waiting <> waiting_before then perform @.tell_first(l); end if;
    return l;
end $$;
