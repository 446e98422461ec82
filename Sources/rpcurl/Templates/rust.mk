# make         builds @NAME@.so
# make test    runs its tests and rpcurl plugins check, with the configuration CONFIG
CONFIG ?= name=x-test
CARGO ?= cargo
RPCURL ?= rpcurl
@FIND@

# Built under another name and renamed, so that no process loads an incomplete file.
@NAME@.so: Cargo.toml build.rs $(shell find src -type f) $(KIT)/rpcurl.rs
	$(CARGO) build --offline --release
	cp target/release/lib@CRATE@.so $@.new
	mv -f $@.new $@

test check: @NAME@.so
	$(CARGO) test --offline
	$(RPCURL) plugins check $(CHECKFLAGS) './@NAME@.so$(if $(CONFIG),$(COMMA)$(CONFIG))'

clean:
	rm -rf @NAME@.so target

.PHONY: test check clean
