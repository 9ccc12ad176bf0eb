-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- Latches and barriers. The row of the latch is locked first.

-- Locks and returns the row; its ttl has not passed. Null: the latch is unknown. The row of an
-- unknown latch that may be set is made first, so that only one caller at a time sets it.
create function @.latch_row(p_ns text, p_name text, p_may_set boolean) returns @.latch
language plpgsql as $$
declare
    l @.latch;
begin
    select * into l from @.latch k where k.ns = p_ns and k.name = p_name for update;
    if not found and p_may_set then
        insert into @.latch (count, generation, first, expires, ttl, parties, ns, name)
            values (0, 0, 0, clock_timestamp(), 0, 0, p_ns, p_name) on conflict do nothing;
        select * into l from @.latch k where k.ns = p_ns and k.name = p_name for update;
    end if;
    if l.expires > clock_timestamp() then return l; end if;
    return null;
end $$;

-- The waiters join again if their generation is not over.
create function @.wake_latch(p_ns text, p_name text) returns void language plpgsql as $$
declare
    woken text;
begin
    for woken in with gone as (delete from @.latch_waiter w where w.ns = p_ns and w.name = p_name
            and w.expires is null returning w.client) select distinct client from gone loop
        perform @.notify(woken, 'l ' || p_name);
    end loop;
end $$;

create function @.begin_generation(l @.latch, p_floor bigint, p_ns text, p_name text,
    p_count bigint, p_parties bigint, p_ttl bigint) returns @.latch language plpgsql as $$
begin
    delete from @.latch_step s where s.ns = p_ns and s.name = p_name
        and s.generation < coalesce(l.generation, 0);
    insert into @.latch as k (count, generation, first, expires, ttl, parties, ns, name)
        values (p_count, p_floor + @.ticks(), 0, clock_timestamp() + p_ttl * interval '1 ms',
            p_ttl, p_parties, p_ns, p_name)
        on conflict (ns, name) do update set count = excluded.count,
            generation = greatest(k.generation + 1, excluded.generation),
            expires = excluded.expires, ttl = excluded.ttl, parties = excluded.parties,
            first = case when l.ns is null then 0 else k.first end
        returning * into l;
    if l.first = 0 then
        update @.latch k set first = k.generation where k.ns = p_ns and k.name = p_name
            returning * into l;
    end if;
    return l;
end $$;

-- Status: y the latch was set, n a generation is counting, r say hello first.
create function @.latch_set_1(p_ns text, p_name text, p_count bigint, p_ttl bigint)
returns "char"
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    b @.boot;
    l @.latch;
begin
    select * into b from @.boot;
    if not found then return 'r'; end if;
    l := @.latch_row(p_ns, p_name, true);
    if l.count > 0 then return 'n'; end if;
    perform @.begin_generation(l, b.floor, p_ns, p_name, p_count, 0, p_ttl);
    return 'y';
end $$;

-- Status: c counted, u unknown latch, r say hello first, p the barrier has other parties. An
-- arrival has `p_parties` > 0. A step of a request that has counted is not counted again.
create function @.latch_step_1(p_ns text, p_name text, p_request text, p_steps bigint,
    p_parties bigint, p_ttl bigint,
    out status "char", out generation bigint, out count bigint, out parties bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    b @.boot;
    l @.latch;
    was_counting boolean;
begin
    select * into b from @.boot;
    if not found then status := 'r'; return; end if;
    l := @.latch_row(p_ns, p_name, p_parties > 0);
    select 'c', s.generation, s.count into status, generation, count from @.latch_step s
        where s.ns = p_ns and s.name = p_name and s.request = p_request;
    if found then return; end if;
    if p_parties = 0 and l.ns is null then status := 'u'; return; end if;
    if p_parties > 0 then
        if l.count > 0 and l.parties <> p_parties then
            status := 'p'; parties := l.parties; return;
        end if;
        if l.ns is null or l.count = 0 then
            l := @.begin_generation(l, b.floor, p_ns, p_name, p_parties, p_parties, p_ttl);
        end if;
        l.ttl := p_ttl;
    end if;
    was_counting := l.count > 0;
    l.count := greatest(0, l.count - p_steps);
    status := 'c'; generation := l.generation; count := l.count;
    insert into @.latch_step values (l.count, l.generation, p_ns, p_name, p_request);
    update @.latch k set count = l.count, ttl = l.ttl,
        expires = clock_timestamp() + l.ttl * interval '1 ms'
        where k.ns = p_ns and k.name = p_name;
    if was_counting and l.count = 0 then
        if l.parties > 0 then
            perform @.begin_generation(l, b.floor, p_ns, p_name, l.parties, l.parties, l.ttl);
        end if;
        perform @.wake_latch(p_ns, p_name);
    end if;
end $$;

-- The state of the latch; no row: unknown. With `p_owner`, a waiter joins before it reads, so that
-- it misses no count that reaches 0. `p_wait` is as in an attempt: 0 leaves.
create function @.latch_look_1(p_ns text, p_name text, p_owner text, p_client text, p_wait int)
returns table (count bigint, generation bigint, first bigint, parties bigint, remaining bigint,
    waiting bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    if p_owner <> '' and p_wait = 0 then
        delete from @.latch_waiter w where w.ns = p_ns and w.name = p_name and w.owner = p_owner;
    elsif p_owner <> '' then
        -- A count down that reads the waiters before this commit has the row locked until after it.
        perform 1 from @.latch k where k.ns = p_ns and k.name = p_name for share;
        insert into @.latch_waiter as w values (case when p_wait = 2 then
            clock_timestamp() + interval '15 s' end, p_ns, p_name, p_owner, p_client)
            on conflict (ns, name, owner) do update set expires = excluded.expires,
                client = excluded.client;
    else
        delete from @.latch_waiter w where w.ns = p_ns and w.name = p_name and case
            when w.expires is null then not @.is_alive(w.client, p_client)
            else w.expires <= clock_timestamp() end;
    end if;
    return query select k.count, k.generation, k.first, k.parties, @.until(k.expires),
        (select count(*) from @.latch_waiter w where w.ns = p_ns and w.name = p_name)
        from (select 1) one left join @.latch k on k.ns = p_ns and k.name = p_name
            and k.expires > clock_timestamp();
end $$;

-- False: the latch did not exist.
create function @.latch_reset_1(p_ns text, p_name text) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    l @.latch;
begin
    l := @.latch_row(p_ns, p_name, false);
    if l.ns is null then return false; end if;
    update @.latch k set count = 0, expires = clock_timestamp()
        where k.ns = p_ns and k.name = p_name;
    perform @.wake_latch(p_ns, p_name);
    return true;
end $$;
