# make test    runs its test and rpcurl plugins check
RPCURL ?= rpcurl

test check:
	./test_@NAME@.@ENDING@
	$(RPCURL) plugins check $(CHECKFLAGS) ./@NAME@.@ENDING@

.PHONY: test check
