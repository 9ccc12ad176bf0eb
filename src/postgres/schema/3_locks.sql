-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- The functions that clients of format 1 call.
-- Status of an attempt: g granted, q in the queue, b busy, r say hello first; and for permits: n no
-- total is set, t another total is set, m more permits than the total.

-- The first call of a connection. A missing row of @.boot tells of a crash or a failover. After a
-- failover, holds that the standby did not know may still live elsewhere: nothing is granted for
-- the longest ttl, unless the standby was synchronous or the client wants no pause. The tables may
-- come to a server with an earlier timeline (pg_upgrade, a dump): the floor of tokens still grows.
create function @.hello_1(p_go boolean, out format int, out is_standby boolean, out timeline int,
    out hold_off bigint, out pid int, out now bigint, out boot bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    m @.meta;
    next_floor bigint;
    pause timestamptz;
begin
    pid := pg_backend_pid();
    now := @.microseconds(clock_timestamp());
    is_standby := pg_is_in_recovery();
    select k.format into format from @.meta k;
    if is_standby then return; end if;
    timeline := ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int;
    perform 1 from @.boot;
    if not found then
        select * into m from @.meta for update;
        next_floor := greatest(timeline::bigint << 47,
            m.floor + case when m.timeline <> timeline then 1::bigint << 47 else 0 end);
        if next_floor >> 47 > 65535 then
            raise exception 'the timeline is larger than 65535, and tokens have no room for it';
        end if;
        if m.timeline <> timeline and not p_go
                and (current_setting('synchronous_standby_names') = ''
                or current_setting('synchronous_commit') in ('local', 'off')) then
            pause := clock_timestamp() + m.most_ttl * interval '1 ms';
        end if;
        -- A crash does not end the pause.
        pause := greatest(pause, case when m.hold_off > clock_timestamp() then m.hold_off end);
        insert into @.boot values (1, clock_timestamp(), next_floor, m.most_ttl, pause)
            on conflict do nothing;
        update @.meta k set timeline = hello_1.timeline, hold_off = pause, floor = next_floor
            where k.timeline <> hello_1.timeline or k.hold_off is distinct from pause
            or k.floor <> next_floor;
    end if;
    select @.microseconds(b.started), case when b.hold_off > clock_timestamp() then
        @.until(b.hold_off) end into boot, hold_off from @.boot b;
    -- Locks that nobody used for a week. The clock is ahead of their tokens.
    delete from @.lock k where (k.ns, k.name) in (select f.ns, f.name from @.lock f, @.boot b
        where f.owner is null and f.holders = 0 and f.waiting = 0 and f.total is null
        and f.fence < b.floor + @.ticks() - 604800 * 65536::bigint
        limit 100 for update of f skip locked);
end $$;

create function @.remember_ttl(p_ttl int) returns void language sql volatile as $$
    update @.meta set most_ttl = p_ttl where most_ttl < p_ttl;
    update @.boot set most_ttl = p_ttl where most_ttl < p_ttl
$$;

-- Ends a hold of the caller from an earlier timeline, and writes that: it may have ended there, and
-- others may have followed, which this server does not know.
create function @.end_earlier(l @.lock, p_owner text, p_floor bigint) returns @.lock
language plpgsql as $$
begin
    if l.owner = p_owner and l.fence < p_floor then
        l := @.without_owner(l);
        perform @.write(l);
    end if;
    if l.holders > 0 then
        delete from @.holder h
            where h.ns = l.ns and h.name = l.name and h.owner = p_owner and h.token < p_floor;
        if found then
            l.holders := l.holders - 1;
            perform @.write(l);
        end if;
    end if;
    return l;
end $$;

-- An attempt with its place in the queue: `p_place` is n none, k kept, l lost. `p_wait`: 0 no
-- place, 1 a place for as long as the connection lives, 2 a place for 4 s.
create function @.attempt(p_ns text, p_name text, p_owner text, p_client text, p_who text,
    p_value text, p_ttl int, p_mode int, p_permits int, p_total int, p_wait int, p_place "char",
    out status "char", out token bigint, out remaining bigint, out is_first boolean, out total int,
    out now bigint)
language plpgsql as $$
declare
    b @.boot;
    l @.lock;
    h @.holder;
    is_new_total boolean := false;
begin
    select * into b from @.boot;
    if not found then status := 'r'; return; end if;
    if p_ttl > b.most_ttl then perform @.remember_ttl(p_ttl); end if;
    loop
        select * into l from @.lock k where k.ns = p_ns and k.name = p_name for update;
        exit when found;
        insert into @.lock (ns, name, fence) values (p_ns, p_name, 0) on conflict do nothing;
    end loop;
    if p_mode = 2 then
        total := coalesce(l.total, p_total);
        status := case when total = 0 then 'n'
            when p_place = 'n' and p_total <> 0 and p_total <> total then 't'
            when p_permits > total then 'm' end;
        if status is not null then
            delete from @.waiter q where q.ns = p_ns and q.name = p_name and q.owner = p_owner;
            if found then
                l.waiting := l.waiting - 1;
                perform @.serve(l, null, p_client, true);
            end if;
            return;
        end if;
        is_new_total := l.total is null;
        l.total := total;
    end if;
    l := @.end_earlier(l, p_owner, b.floor);
    l := @.serve(l, p_owner, p_client, is_new_total);
    if l.owner = p_owner then
        status := 'g'; token := l.fence; remaining := @.until(l.expires);
    elsif l.holders > 0 then
        select * into h from @.holder x
            where x.ns = p_ns and x.name = p_name and x.owner = p_owner;
        if found then
            status := 'g'; token := h.token; remaining := @.until(h.expires);
        end if;
    end if;
    if status is null and l.waiting = 0 and (b.hold_off is null or b.hold_off <= clock_timestamp())
            and @.fits(l, p_mode, p_permits) then
        l := @.give(l, b.floor, p_owner, p_client, p_who, p_value, p_ttl, p_mode, p_permits);
        perform @.write(l);
        status := 'g'; token := l.fence; remaining := p_ttl;
    end if;
    now := @.microseconds(clock_timestamp());
    if status is not null then return; end if;
    remaining := @.until(@.first_end(l));
    if p_wait = 0 then status := 'b'; return; end if;
    if p_place <> 'k' then
        insert into @.waiter values (nextval('@.place'),
            case when p_wait = 2 then clock_timestamp() + interval '4 s' end,
            p_ttl, p_mode, p_permits, p_ns, p_name, p_owner, p_client, p_who, p_value);
        update @.lock k set waiting = k.waiting + 1 where k.ns = p_ns and k.name = p_name;
    end if;
    is_first := p_owner = (select q.owner from @.waiter q where q.ns = p_ns and q.name = p_name
        order by q.seq limit 1);
    status := 'q';
end $$;

create function @.acquire_1(p_ns text, p_name text, p_owner text, p_client text, p_who text,
    p_value text, p_ttl int, p_mode int, p_permits int, p_total int, p_wait int,
    out status "char", out token bigint, out remaining bigint, out is_first boolean, out total int,
    out now bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    b @.boot;
    l @.lock;
begin
    if p_mode = 0 then
        select * into b from @.boot;
        if found and p_ttl <= b.most_ttl
                and (b.hold_off is null or b.hold_off <= clock_timestamp()) then
            update @.lock k set fence = greatest(k.fence + 1, b.floor + @.ticks()),
                owner = p_owner, client = p_client, who = p_who, value = p_value, ttl = p_ttl,
                since = clock_timestamp(), expires = clock_timestamp() + p_ttl * interval '1 ms'
                where k.ns = p_ns and k.name = p_name and k.waiting = 0 and k.holders = 0
                and (k.owner is null or k.expires <= clock_timestamp())
                returning k.fence into token;
            if found then status := 'g'; remaining := p_ttl; return; end if;
        end if;
    end if;
    -- A lock on the row is written to the log, so a try reads first.
    if p_wait = 0 then
        select * into l from @.lock k where k.ns = p_ns and k.name = p_name;
        if l.owner is not null and l.expires > clock_timestamp() then
            status := 'b'; remaining := @.until(l.expires); return;
        end if;
    end if;
    select * into status, token, remaining, is_first, total, now from @.attempt(p_ns, p_name,
        p_owner, p_client, p_who, p_value, p_ttl, p_mode, p_permits, p_total, p_wait, 'n');
end $$;

-- Tells of a grant whose message was lost, serves the queue if a lease or the first waiter has
-- ended, and keeps the place. A claim that lost its place joins the queue again. While there is
-- nothing to serve, it only reads.
create function @.refresh_1(p_ns text, p_name text, p_owner text, p_client text, p_who text,
    p_value text, p_ttl int, p_mode int, p_permits int, p_total int, p_wait int,
    out status "char", out token bigint, out remaining bigint, out is_first boolean, out total int,
    out now bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    l @.lock;
    first_waiter @.waiter;
    has_place boolean;
begin
    if p_wait = 1 then
        select * into l from @.lock k where k.ns = p_ns and k.name = p_name;
        select * into first_waiter from @.waiter q where q.ns = p_ns and q.name = p_name
            order by q.seq limit 1;
        is_first := first_waiter.owner = p_owner;
        remaining := @.until(@.first_end(l));
        if remaining > 0 and l.owner is distinct from p_owner
                and (is_first or @.is_alive(first_waiter.client, p_client))
                and exists (select 1 from @.waiter q
                where q.ns = p_ns and q.name = p_name and q.owner = p_owner) then
            status := 'q'; now := @.microseconds(clock_timestamp()); return;
        end if;
    end if;
    -- Its lock must come first: all functions lock the row of the name before other rows.
    perform 1 from @.lock k where k.ns = p_ns and k.name = p_name for update;
    if p_wait = 2 then
        update @.waiter q set expires = clock_timestamp() + interval '4 s'
            where q.ns = p_ns and q.name = p_name and q.owner = p_owner;
    else
        perform 1 from @.waiter q where q.ns = p_ns and q.name = p_name and q.owner = p_owner;
    end if;
    has_place := found;
    select * into status, token, remaining, is_first, total, now from @.attempt(p_ns, p_name,
        p_owner, p_client, p_who, p_value, p_ttl, p_mode, p_permits, p_total, p_wait,
        case when has_place then 'k' else 'l' end::"char");
end $$;

-- Status of an end: r released, e expired and nobody took the lock, t taken over, g kept.
-- `is_over` tells whether the connection of the claim has ended: then no request of it can still
-- arrive.
create function @.leave(p_ns text, p_name text, p_owner text, p_client text, p_claimed_by text,
    p_mode int, p_keep boolean,
    out status "char", out token bigint, out remaining bigint, out is_over boolean)
language plpgsql as $$
declare
    l @.lock;
    place bigint;
    had_place boolean := false;
    was_held boolean := false;
begin
    is_over := p_client = p_claimed_by or p_claimed_by = ''
        or not @.is_alive(p_claimed_by, p_client);
    select * into l from @.lock k where k.ns = p_ns and k.name = p_name for update;
    if not found then status := 'e'; return; end if;
    if p_keep then
        l := @.end_earlier(l, p_owner,
            coalesce((select b.floor from @.boot b), 9223372036854775807));
    end if;
    l := @.expire(l);
    if l.waiting > 0 then
        delete from @.waiter q where q.ns = p_ns and q.name = p_name and q.owner = p_owner
            returning q.seq into place;
        if found then
            had_place := true;
            l.waiting := l.waiting - 1;
            if not exists (select 1 from @.waiter q
                    where q.ns = p_ns and q.name = p_name and q.seq < place) then
                perform @.tell_first(l);
            end if;
        end if;
    end if;
    if l.owner = p_owner then
        was_held := true;
        token := l.fence;
        remaining := @.until(l.expires);
    elsif l.holders > 0 then
        select h.token, @.until(h.expires) into token, remaining from @.holder h
            where h.ns = p_ns and h.name = p_name and h.owner = p_owner;
        was_held := found;
    end if;
    if was_held and p_keep then
        status := 'g';
        if had_place then perform @.write(l); end if;
        return;
    end if;
    status := case when was_held then 'r'
        when l.owner is null and (l.holders = 0 or p_mode = (select h.mode from @.holder h
            where h.ns = p_ns and h.name = p_name limit 1)) then 'e'
        else 't' end;
    if was_held and l.owner = p_owner then
        l := @.without_owner(l);
    elsif was_held then
        delete from @.holder h where h.ns = p_ns and h.name = p_name and h.owner = p_owner;
        l.holders := l.holders - 1;
    end if;
    perform @.serve(l, null, p_client, was_held or had_place);
end $$;

create function @.leave_1(p_ns text, p_name text, p_owner text, p_client text, p_claimed_by text,
    p_mode int, p_keep boolean,
    out status "char", out token bigint, out remaining bigint, out is_over boolean)
language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
    select * from @.leave(p_ns, p_name, p_owner, p_client, p_claimed_by, p_mode, p_keep)
$$;

-- A release without waiters need not be flushed to the disk: after a crash, the lease is there
-- again, and ends in its time.
create function @.release_1(p_ns text, p_name text, p_owner text, p_client text, p_mode int,
    out status "char", out token bigint, out remaining bigint, out is_over boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    was_live boolean;
begin
    if p_mode = 0 then
        update @.lock k set owner = null, client = null, who = null, value = null
            where k.ns = p_ns and k.name = p_name and k.owner = p_owner
            and k.waiting = 0 and k.holders = 0
            returning k.expires > clock_timestamp() into was_live;
        if found then
            perform set_config('synchronous_commit', 'off', true);
            status := case when was_live then 'r' else 'e' end;
            is_over := true;
            return;
        end if;
    end if;
    select * into status, token, remaining, is_over
        from @.leave(p_ns, p_name, p_owner, p_client, p_client, p_mode, false);
end $$;

-- A row for each hold, in their order: x extended, r refused, m refused and nobody has the lock.
-- Locks the rows in the order of their names, so that two batches cannot wait for each other. A
-- plan for each call would take twice the time of the rest.
create function @.renew_1(p_ns text, p_client text, p_names text[], p_owners text[], p_modes int[],
    p_ttls int[]) returns table (status "char", now bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan as $$
begin
    if array_length(p_names, 1) = 1 and p_modes[1] = 0 then
        update @.lock k set expires = clock_timestamp() + p_ttls[1] * interval '1 ms',
            ttl = p_ttls[1], client = p_client
            where k.ns = p_ns and k.name = p_names[1] and k.owner = p_owners[1]
            and k.expires > clock_timestamp();
        if found then
            status := 'x'; now := @.microseconds(clock_timestamp()); return next; return;
        end if;
    end if;
    perform 1 from @.lock k where k.ns = p_ns and k.name = any (p_names)
        order by k.ns, k.name for update;
    return query
    with asked as (
        select * from unnest(p_names, p_owners, p_modes, p_ttls)
            with ordinality as u (name, owner, mode, ttl, i)),
    exclusive as (
        update @.lock k set expires = clock_timestamp() + u.ttl * interval '1 ms', ttl = u.ttl,
            client = p_client
            from asked u where u.mode = 0 and k.ns = p_ns and k.name = u.name
            and k.owner = u.owner and k.expires > clock_timestamp() returning u.i),
    others as (
        update @.holder h set expires = clock_timestamp() + u.ttl * interval '1 ms', ttl = u.ttl,
            client = p_client
            from asked u where u.mode <> 0 and h.ns = p_ns and h.name = u.name
            and h.owner = u.owner and h.mode = u.mode and h.expires > clock_timestamp()
            returning u.i)
    select (case when e.i is not null or o.i is not null then 'x'
            when exists (select 1 from @.lock k where k.ns = p_ns and k.name = u.name
                and k.owner is not null and k.expires > clock_timestamp())
                or exists (select 1 from @.holder h where h.ns = p_ns and h.name = u.name
                and h.expires > clock_timestamp()) then 'r'
            else 'm' end)::"char", @.microseconds(clock_timestamp())
        from asked u left join exclusive e on e.i = u.i left join others o on o.i = u.i
        order by u.i;
end $$;

-- All of the exclusive locks or none: no row is none.
create function @.acquire_batch_1(p_ns text, p_names text[], p_owners text[], p_client text,
    p_who text, p_ttl int) returns table (token bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    b @.boot;
    l @.lock;
    i int;
begin
    select * into b from @.boot;
    if not found then token := -1; return next; return; end if;
    if p_ttl > b.most_ttl then perform @.remember_ttl(p_ttl); end if;
    if b.hold_off > clock_timestamp() then return; end if;
    -- The core names each lock once. The clean-up deletes no row of a transaction that sees it.
    insert into @.lock (ns, name, fence) select p_ns, u.name, 0 from unnest(p_names) u (name)
        order by u.name collate "C" on conflict do nothing;
    perform 1 from @.lock k where k.ns = p_ns and k.name = any (p_names)
        order by k.ns, k.name for update;
    for i in 1 .. array_length(p_names, 1) loop
        select * into l from @.lock k where k.ns = p_ns and k.name = p_names[i];
        if not found then return; end if;
        l := @.serve(l, null, p_client, false);
        if l.waiting > 0 or not @.fits(l, 0, 1) then return; end if;
    end loop;
    for i in 1 .. array_length(p_names, 1) loop
        select * into l from @.lock k where k.ns = p_ns and k.name = p_names[i];
        l := @.give(l, b.floor, p_owners[i], p_client, p_who, null, p_ttl, 0, 1);
        perform @.write(l);
        token := l.fence;
        return next;
    end loop;
end $$;

-- No row: the owner does not hold the lock. A repeated call renews the shared hold.
create function @.downgrade_1(p_ns text, p_name text, p_owner text, p_client text, p_who text,
    p_ttl int) returns table (token bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    l @.lock;
    t timestamptz;
begin
    select * into l from @.lock k where k.ns = p_ns and k.name = p_name for update;
    if not found then return; end if;
    l := @.expire(l);
    t := clock_timestamp();
    if l.owner = p_owner then
        token := l.fence;
        insert into @.holder values (l.fence, t + p_ttl * interval '1 ms', l.since, p_ttl, 1, 0,
            p_ns, p_name, p_owner, p_client, p_who);
        l := @.without_owner(l);
        l.holders := 1;
        perform @.serve(l, null, p_client, true);
        return next;
        return;
    end if;
    update @.holder h set expires = t + p_ttl * interval '1 ms', ttl = p_ttl, client = p_client
        where h.ns = p_ns and h.name = p_name and h.owner = p_owner and h.mode = 1
        returning h.token into token;
    if found then return next; end if;
end $$;

-- The exclusive hold that has the value continues under a new owner, with the next token. A hold
-- that was acquired without a value has its owner as value. No row: no hold has it.
create function @.adopt_1(p_ns text, p_name text, p_value text, p_owner text, p_client text,
    p_who text, p_ttl int) returns table (token bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    b @.boot;
begin
    select * into b from @.boot;
    if not found then token := -1; return next; return; end if;
    if b.hold_off > clock_timestamp() then
        raise exception 'after a failover, the hold may have ended on the former server'
            using errcode = 'lock_not_available';
    end if;
    if p_ttl > b.most_ttl then perform @.remember_ttl(p_ttl); end if;
    return query update @.lock k set fence = greatest(k.fence + 1, b.floor + @.ticks()),
        owner = p_owner, client = p_client, who = p_who, value = p_value, ttl = p_ttl,
        expires = clock_timestamp() + p_ttl * interval '1 ms'
        where k.ns = p_ns and k.name = p_name and coalesce(k.value, k.owner) = p_value
        and k.owner is not null and k.expires > clock_timestamp()
        returning k.fence;
end $$;

create function @.resize_1(p_ns text, p_name text, p_client text, p_total int) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    l @.lock;
begin
    insert into @.lock as k (ns, name, fence, total) values (p_ns, p_name, 0, p_total)
        on conflict (ns, name) do update set total = p_total returning * into l;
    perform @.serve(l, null, p_client, false);
end $$;

-- Ends all holds, or with `p_expected`, if a hold has this token, those with this or smaller ones.
create function @.force_1(p_ns text, p_name text, p_client text, p_expected bigint)
returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    l @.lock;
    h @.holder;
    was_held boolean := false;
begin
    select * into l from @.lock k where k.ns = p_ns and k.name = p_name for update;
    if not found then return false; end if;
    l := @.expire(l);
    if p_expected is not null and not (l.owner is not null and l.fence = p_expected)
            and not exists (select 1 from @.holder x where x.ns = p_ns and x.name = p_name
            and x.token = p_expected) then
        return false;
    end if;
    if l.owner is not null then
        was_held := true;
        perform @.notify(l.client, 'f ' || l.owner || ' ' || p_name);
        l := @.without_owner(l);
    end if;
    for h in delete from @.holder x where x.ns = p_ns and x.name = p_name
            and (p_expected is null or x.token <= p_expected) returning * loop
        was_held := true;
        perform @.notify(h.client, 'f ' || h.owner || ' ' || p_name);
    end loop;
    if l.holders > 0 then
        l.holders := (select count(*) from @.holder x where x.ns = p_ns and x.name = p_name);
    end if;
    perform @.serve(l, null, p_client, was_held);
    return was_held;
end $$;

-- A row for each hold of each lock whose name is `p_name`, or begins with it if `p_is_prefix`; a
-- lock without a live hold has one row if it is asked for by its name.
create function @.inspect_1(p_ns text, p_name text, p_client text, p_is_prefix boolean)
returns table (name text, waiting bigint, total int, owner text, who text, mode int, permits int,
    token bigint, since bigint, remaining bigint)
language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
    with k as (select * from @.lock l where l.ns = p_ns and (l.name = p_name
        or p_is_prefix and l.name > p_name and starts_with(l.name, p_name))),
    held as (
        select k.name, k.owner, k.who, 0 as mode, 1 as permits, k.fence as token, k.since, k.expires
            from k where k.owner is not null and k.expires > clock_timestamp()
        union all
        select h.name, h.owner, h.who, h.mode, h.permits, h.token, h.since, h.expires
            from @.holder h join k on h.ns = k.ns and h.name = k.name
            where h.expires > clock_timestamp())
    select k.name, case when k.waiting = 0 then 0 else (select count(*) from @.waiter q
            where q.ns = k.ns and q.name = k.name and case when q.expires is null
            then @.is_alive(q.client, p_client) else q.expires > clock_timestamp() end) end,
        coalesce(k.total, 0), h.owner, h.who, h.mode, h.permits, h.token, @.microseconds(h.since),
        @.until(h.expires)
        from k left join held h on h.name = k.name where h.name is not null or not p_is_prefix
        order by k.name, h.token, h.since, h.owner
$$;

-- Sends the messages of the transaction before.
create function @.notify_1() returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    messages text := current_setting('pawl.messages', true);
    entries text[];
begin
    if coalesce(messages, '') = '' then return; end if;
    select array_agg(e.value) into entries from jsonb_array_elements_text(messages::jsonb) e;
    for i in 1 .. array_length(entries, 1) by 2 loop
        perform pg_notify('pawl_' || entries[i], entries[i + 1]);
    end loop;
    perform set_config('pawl.messages', '', false);
end $$;
