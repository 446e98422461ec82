# Packages, and what must hold before a release. Included by the Makefile.

PACKAGES := $(BUILD)/packages
PACKAGE_TOOLS := dpkg xz-utils rpm binutils openssh-client
PACKAGE_TEST_TOOLS := lintian debootstrap busybox-static util-linux cpio pkg-config buildah shellcheck
# Of scripts/site.
SITE_TOOLS := mandoc
# The program that packages contain starts with this C library and newer ones.
PACKAGED_GLIBC := 2.31
PACKAGE = scripts/package --version $(VERSION) --machine $(MACHINE) --architecture $(ARCHITECTURE) --build $(BUILD) \
  $(BUILD)/package-tree $(PACKAGES)

.PHONY: packages dist deb rpm package-tree package-test check-reproducible release-check release-files

packages: package-tree ## Make all packages, below .build/packages
	@$(PACKAGE) tar libc deb rpm

dist: package-tree ## Make the tarballs: of the program, and of the program with the C library
	@$(PACKAGE) tar libc

deb: package-tree ## Make the Debian packages rpcurl and rpcurl-dev
	@$(PACKAGE) deb

rpm: package-tree ## Make the RPM packages rpcurl and rpcurl-devel
	@$(PACKAGE) rpm

package-tree:
	@scripts/need $(PACKAGE_TOOLS)
	@$(MAKE) --no-print-directory release GLIBC=$(PACKAGED_GLIBC)
	@rm -rf $(BUILD)/package-tree
	@umask 022; $(MAKE) --no-print-directory install-built DESTDIR=$(CURDIR)/$(BUILD)/package-tree PREFIX=/usr

# With RPCURL_TESTS=all they are also installed in minimal systems, which are fetched from Debian's archive.
package-test: packages servers ## Test the packages: contents, and the program on other systems
	@scripts/need $(PACKAGE_TEST_TOOLS) $(SITE_TOOLS)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check spdx-tools==0.8.5
	$(PYTEST) Tests/Packages

check-reproducible: packages ## Make the packages again in another directory, and compare them
	scripts/packages/check-reproducible $(PACKAGES)

# Everything that must hold before a release. The tests run the program that the packages contain. Each step runs, also after one
# that failed, and the report has its result and time.
CHECKED := $(BUILD)/release-check.txt
# `make -n` runs a line that names $(MAKE), but not one with a variable that does.
STEP = @scripts/packages/release-step $(CHECKED) $(MAKE)
# Without these, tests are skipped.
CHECK_TOOLS := chromium cargo

release-check: export GLIBC := $(PACKAGED_GLIBC)
release-check: export RPCURL_SKIPS := fail
release-check: ## Check what must hold before a release: all tests, sanitizers, packages, the same bytes from another directory
	@rm -f $(CHECKED)
	scripts/packages/check-version $(VERSION)
	@scripts/need $(CHECK_TOOLS)
	@mkdir -p $(BUILD); echo "rpcurl $(VERSION), commit $$(git rev-parse HEAD)" >$(CHECKED)
	$(STEP) test-all
	$(STEP) musl
	$(STEP) valgrind
	$(STEP) package-test RPCURL_TESTS=all
	$(STEP) check-reproducible
	$(STEP) sanitize
	$(STEP) sanitize-threads
	$(STEP) fuzz-smoke
	$(STEP) fuzz FUZZ_SECONDS=60
	$(STEP) mutation-fuzz
	$(STEP) sanitize-program
	$(STEP) sanitize-program SANITIZER=thread
	@cat $(CHECKED)
	@! grep -q ^FAILED $(CHECKED)

# A variable of the command line: what has the same name in the environment is for something else.
given = $(if $(filter command,$(origin $(1))),$($(1)))

# Packages for other machines are in directories of theirs. The key is read by ssh-keygen only.
release-files: ## Write all files of a release, .build/release-files: KEY=FILE (an SSH key) signs, URL=ADDRESS is where they will be
	@test -n '$(call given,KEY)' || { echo 'missing KEY=FILE: an SSH key, as of "ssh-keygen -t ed25519 -f FILE"' >&2; exit 1; }
	@test -r '$(call given,KEY)' || { echo 'KEY=$(call given,KEY): cannot be read' >&2; exit 1; }
	scripts/packages/check-version $(VERSION)
	@scripts/need $(SITE_TOOLS)
	@$(MAKE) --no-print-directory packages $(VENV)/.done
	@$(VENV)/bin/python -B scripts/packages/release-files --version $(VERSION) --key '$(call given,KEY)' --from '$(call given,URL)' \
	  $(BUILD)/release-files $(PACKAGES) $$(ls -d .build/*/packages 2>/dev/null)
