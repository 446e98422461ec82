# `make demo` and `make test` need nothing but a Swift toolchain and a Debian or Ubuntu system: they install
# what is missing, say what, and use sudo only when they are not run by root.

BUILD    := .build
VENV     := $(BUILD)/servers/venv
GENERATED := $(BUILD)/servers/generated
PLUGINS  := $(BUILD)/plugins
RELEASE  := $(BUILD)/release/rpcurl
SOURCES  := $(shell find Sources -type f) Package.swift

NEWER    := $(BUILD)/newer-libcurl

PREFIX   ?= /usr/local

# Told in one place each.
VERSION := $(shell sed -n 's/.*static let current = "\(.*\)"/\1/p' Sources/rpcurl/Version.swift)
ABI     := $(shell awk '/define RPCURL_ABI_M(AJ|IN)OR/ { printf "%s%s", dot, $$3; dot = "." }' Sources/CPluginABI/include/rpcurl/plugin.h)

# What is installed, SOURCE:PLACE below PREFIX. `make uninstall` removes the same.
files-of = $(shell find $(1) ! -type d ! -path '*/.build/*' ! -name '*.so' ! -name Package.resolved)
EXAMPLES  := stamp sign redact approve count
INSTALLED := \
  $(RELEASE):bin/rpcurl \
  $(foreach page,$(sort $(wildcard man/*)),$(page):share/man/man$(patsubst .%,%,$(suffix $(page)))/$(notdir $(page))) \
  completions/rpcurl.bash:share/bash-completion/completions/rpcurl \
  completions/_rpcurl:share/zsh/site-functions/_rpcurl \
  completions/rpcurl.fish:share/fish/vendor_completions.d/rpcurl.fish \
  Sources/CPluginABI/include/rpcurl/plugin.h:include/rpcurl/plugin.h \
  Plugins/rpcurl.pc.in:lib/pkgconfig/rpcurl.pc \
  $(foreach file,$(call files-of,Plugins/SwiftKit),$(file):$(file:Plugins/%=share/rpcurl/%)) \
  $(foreach file,$(call files-of,$(EXAMPLES:%=Plugins/%)),$(file):$(file:Plugins/%=share/doc/rpcurl/examples/%)) \
  $(foreach file,README.md CHANGELOG.md LICENSE,$(file):share/doc/rpcurl/$(file))

# What the build needs, what the servers need, and what the tests compare with.
BUILD_PACKAGES  := libcurl4-openssl-dev libprotobuf-c-dev zlib1g-dev libzstd-dev libbrotli-dev libedit-dev pkg-config gcc
PLUGIN_PACKAGES := libssl-dev libprotobuf-c-dev pkg-config gcc
SERVER_PACKAGES := python3 python3-venv libpython3-dev
TEST_PACKAGES   := protobuf-compiler libprotobuf-dev protobuf-c-compiler curl jq g++ mandoc binutils openssl zsh fish bash-completion
BENCH_PACKAGES  := valgrind binutils

# Where libcurl's headers are, if not where every compiler looks.
SWIFT_FLAGS := $(patsubst %,-Xcc %,$(filter-out -I/usr/include%,$(shell pkg-config --cflags-only-I libcurl 2>/dev/null)))
# lld, because the default linker warns about functions of the Swift runtime that nothing here calls.
# Exclusive access is checked at run time in debug builds, which the tests use; the checks are a third of the cost
# of a message.
SWIFT_RELEASE_OF := swift build -c release --static-swift-stdlib -Xswiftc -use-ld=lld \
  -Xswiftc -enforce-exclusivity=unchecked $(SWIFT_FLAGS) --product
SWIFT_RELEASE := $(SWIFT_RELEASE_OF) rpcurl
PYTEST := $(VENV)/bin/python -B -m pytest -q -p no:cacheprovider -n 2

.PHONY: help demo test unit-test end-to-end-test newer-libcurl newer-libcurl-test release plugins servers bench sanitize sanitize-threads fuzz lint docs check-docs schemas check-schemas \
  install install-built uninstall clean build-packages plugin-packages server-packages test-packages bench-packages

help: ## Show what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: release plugins servers ## Build, start a real server, and make three real calls
	@scripts/demo

test: lint check-schemas unit-test end-to-end-test check-docs ## Install what the tests need, and run all of them

unit-test: build-packages test-packages
	swift build --build-tests $(SWIFT_FLAGS)
	swift test --skip-build $(SWIFT_FLAGS)

end-to-end-test: release plugins servers test-packages newer-libcurl
	$(PYTEST) Tests/EndToEnd Tests/Project

newer-libcurl-test: release plugins servers test-packages $(NEWER)/libcurl.so.4 ## Run the end-to-end tests with a newer libcurl
	RPCURL_LIBRARY_PATH=$(CURDIR)/$(NEWER) $(PYTEST) Tests/EndToEnd

# Without it some tests are left out, which they say; the others need no more than the system's.
newer-libcurl: $(VENV)/.done ## Fetch a newer libcurl than the system's, for some of the tests
	@$(MAKE) --no-print-directory $(NEWER)/libcurl.so.4 || echo "no newer libcurl is to be had here"

$(NEWER)/libcurl.so.4: scripts/newer-libcurl $(VENV)/.done
	scripts/newer-libcurl $(VENV)/bin/pip $(NEWER)

release: build-packages ## Build .build/release/rpcurl, with the Swift runtime linked in
	$(SWIFT_RELEASE)

plugins: build-packages plugin-packages ## Build the sample plugins into .build/plugins
	$(MAKE) -C Plugins OUT=$(CURDIR)/$(PLUGINS)

servers: $(GENERATED)/.done ## Prepare the servers that the demo and the tests call

$(VENV)/.done: Tests/Servers/requirements.txt | server-packages
	python3 -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --only-binary :all: -r $<
	touch $@

$(GENERATED)/.done: $(VENV)/.done $(wildcard Tests/Servers/*.proto) Tests/Servers/generate.py
	$(VENV)/bin/python Tests/Servers/generate.py $(GENERATED)
	touch $@

bench: release plugins servers bench-packages ## Measure: ratios in one run, and instructions counted
	swift build -c release --product ProtobufBenchmark $(SWIFT_FLAGS)
	$(SWIFT_RELEASE_OF) ChainBenchmark
	scripts/bench
	scripts/bench-chain
	PYTHON=$(VENV)/bin/python scripts/bench-protobuf

sanitize: build-packages ## Run the unit tests under AddressSanitizer
	ASAN_OPTIONS=detect_leaks=0 swift test --sanitize=address --scratch-path $(BUILD)/address $(SWIFT_FLAGS)

# The chain's, which is what other threads reach, and whose locks the sanitizer knows. It does not see that of
# Synchronization.Mutex, a futex in a library that it does not instrument, and may report what is done within withLock.
sanitize-threads: build-packages ## Run the chain's unit tests under ThreadSanitizer
	TSAN_OPTIONS=halt_on_error=1 swift test --sanitize=thread --scratch-path $(BUILD)/thread $(SWIFT_FLAGS) \
	  --filter InterceptionTests

fuzz: build-packages ## Fuzz the codecs and the schema loader, FUZZ_SECONDS (600) each
	scripts/fuzz $(or $(FUZZ_SECONDS),600)

lint: ## Check the format of the Swift sources
	swift format lint --strict --recursive Package.swift Sources Tests Plugins

docs: release ## Generate the manual and the completions anew
	scripts/generate-docs $(RELEASE) .

check-docs: release test-packages ## Check that manual and completions are what the binary's definitions give
	scripts/check-docs

schemas: test-packages ## Generate the code of the built-in schemas anew
	Sources/CSchemas/generate.sh
	Sources/Protobuf/WellKnown/generate.sh
	Sources/Reflection/Descriptors/generate.sh

check-schemas: test-packages ## Check that the committed code of the built-in schemas is current
	scripts/check-schemas

install: release ## Install below PREFIX (default /usr/local), within DESTDIR
	@$(MAKE) --no-print-directory install-built

install-built: # What is built already: for packages, and for sudo
	@printf '%s\n' $(INSTALLED) | scripts/installed install '$(DESTDIR)$(PREFIX)'
	@sed -i 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|; s|@ABI@|$(ABI)|' '$(DESTDIR)$(PREFIX)/lib/pkgconfig/rpcurl.pc'

uninstall: ## Remove what install wrote
	@printf '%s\n' $(INSTALLED) | scripts/installed uninstall '$(DESTDIR)$(PREFIX)'

clean: ## Remove everything that was built
	rm -rf $(BUILD)

build-packages:
	@scripts/need $(BUILD_PACKAGES)
plugin-packages:
	@scripts/need $(PLUGIN_PACKAGES)
server-packages:
	@scripts/need $(SERVER_PACKAGES)
test-packages:
	@scripts/need $(TEST_PACKAGES)
bench-packages:
	@scripts/need $(BENCH_PACKAGES)
