# make         builds @NAME@.so, with the Swift runtime linked in
# make test    runs its tests and rpcurl plugins check, with the configuration CONFIG
CONFIG ?= name=x-test
PRODUCT := @NAME@
RPCURL ?= rpcurl
@FIND@
export KIT
include $(KIT)/plugin.mk

test check: @NAME@.so
	swift test --scratch-path .build/test
	$(RPCURL) plugins check $(CHECKFLAGS) './@NAME@.so$(if $(CONFIG),$(COMMA)$(CONFIG))'

.PHONY: test check
