#ifndef CARGUMENTS_H
#define CARGUMENTS_H

/* Replaces the Swift runtime's `_swift_stdlib_getUnsafeArgvArgc`, which `CommandLine.arguments` calls.
 *
 * The runtime's own reads /proc/self/maps before `main`, to find the arguments on the stack. The release is linked with
 * this function (`--wrap`) and without that (scripts/swift-archives).
 *
 * Returns the arguments as `main` receives them, and sets `count` to their number. */
char **__wrap__swift_stdlib_getUnsafeArgvArgc(int *count);

#endif
