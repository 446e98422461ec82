# Builds a plugin in Swift: include this from a Makefile next to its Package.swift, after setting PRODUCT, the name of
# the dynamic library's product, and KIT, the folder of this file.
#
#   make                               links the Swift runtime statically: one file that runs anywhere
#   make SWIFT_RUNTIME=shared          uses the shared Swift runtime, found by the system's dynamic loader
#     SWIFT_RUNPATH=/usr/lib/swift/linux   or in this directory
#   make SWIFTFLAGS="-Xlinker -lx"     adds options of swift build
OUT ?= .
SWIFT_RUNTIME ?= static
NAME ?= $(PRODUCT)
SCRATCH ?= .build/$(SWIFT_RUNTIME)

# The file must not contain the toolchain's directory nor the build's.
FLAGS := -c release --scratch-path $(SCRATCH) --disable-local-rpath
FLAGS_static := -Xswiftc -static-stdlib
FLAGS_shared := $(if $(SWIFT_RUNPATH),-Xlinker -rpath=$(SWIFT_RUNPATH))

$(OUT)/$(NAME).so: Package.swift $(shell find Sources $(KIT)/Sources -type f) $(KIT)/Package.swift
	@mkdir -p $(OUT)
	swift build $(FLAGS) $(FLAGS_$(SWIFT_RUNTIME)) $(SWIFTFLAGS) --product $(PRODUCT)
	# Built under another name and renamed, so that no process loads an incomplete file.
	cp $(SCRATCH)/release/lib$(PRODUCT).so $@.new
	mv -f $@.new $@

clean:
	rm -rf $(SCRATCH) $(OUT)/$(NAME).so

.PHONY: clean
