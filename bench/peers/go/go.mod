module pawl/bench/peers

go 1.25.0

require github.com/go-redsync/redsync/v4 v4.15.0

require github.com/redis/go-redis/v9 v9.17.2

require github.com/redis/rueidis v1.0.79

require github.com/cespare/xxhash/v2 v2.3.0 // indirect

require github.com/dgryski/go-rendezvous v0.0.0-20200823014737-9f7001d12a5f // indirect

require github.com/hashicorp/errwrap v1.1.0 // indirect

require github.com/hashicorp/go-multierror v1.1.1 // indirect

require golang.org/x/sys v0.47.0 // indirect
