// Declarations shared by the parts of the guard.
#ifndef GUARD_PRIVATE_H
#define GUARD_PRIVATE_H

#include "plugin_guard.h"

plugin_guard_record *plugin_guard_records(void);
plugin_guard_plugin *plugin_guard_plugins(void);

// Finds the loaded file that contains an address.
bool plugin_guard_find_object(const void *address, uintptr_t *begin, uintptr_t *end);

// Each reports a plugin's action, and ends the process; the second does nothing in a process that a plugin forked.
void plugin_guard_end_stuck(const plugin_guard_place *place, const char *since);
void plugin_guard_end_exited(const plugin_guard_place *place, const char *what);

int plugin_guard_watch_crashes(void);
int plugin_guard_watch_exits(void);
int plugin_guard_watch_time(plugin_guard_warn warn);

#endif
