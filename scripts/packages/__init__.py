"""Packages of rpcurl: a tarball, Debian packages and RPM packages, from the files that `make install-built` installs.

The same sources give the same bytes: each time in a package is SOURCE_DATE_EPOCH (`clock.epoch`).
"""
