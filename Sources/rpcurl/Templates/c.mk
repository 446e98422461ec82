# make         builds @NAME@.so
# make test    runs rpcurl plugins check, with the configuration CONFIG
CONFIG ?= name=x-test
@FLAGS@ ?= -O2 -g
RPCURL ?= rpcurl
@FIND@

# Built under another name and renamed, so that no process loads an incomplete file.
@NAME@.so: @NAME@.@ENDING@ $(HEADERS)/rpcurl/plugin.h
	$(@COMPILER@) @STANDARD@ -Wall -Wextra -fvisibility=hidden -fPIC -I$(HEADERS) $(CPPFLAGS) $(@FLAGS@) \
	  -shared $(LDFLAGS) -o $@.new $< $(LDLIBS)
	mv -f $@.new $@

test check: @NAME@.so
	$(RPCURL) plugins check $(CHECKFLAGS) './@NAME@.so$(if $(CONFIG),$(COMMA)$(CONFIG))'

clean:
	rm -f @NAME@.so

.PHONY: test check clean
