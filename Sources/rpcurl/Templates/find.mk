COMMA := ,
# pkg-config also searches below the prefix of the rpcurl on the PATH.
PREFIX := $(patsubst %/bin/,%,$(filter %/bin/,$(dir $(shell command -v $(RPCURL)))))
export PKG_CONFIG_PATH := $(PKG_CONFIG_PATH)$(if $(PREFIX),:$(PREFIX)/lib/pkgconfig)
@VARIABLE@ := $(shell PKG_CONFIG_PATH='$(PKG_CONFIG_PATH)' pkg-config --variable=@DIRECTORY@ rpcurl)
ifeq ($(@VARIABLE@)$(filter clean,$(MAKECMDGOALS)),)
ifeq ($(shell command -v pkg-config),)
$(error pkg-config is not installed)
endif
$(error pkg-config does not find rpcurl: install rpcurl-dev or rpcurl-devel, or set PKG_CONFIG_PATH=PREFIX/lib/pkgconfig, where PREFIX/bin/rpcurl is installed)
endif
