// What the parts of the guard share.
#ifndef GUARD_PRIVATE_H
#define GUARD_PRIVATE_H

#include "plugin_guard.h"

plugin_guard_record *plugin_guard_records(void);
plugin_guard_plugin *plugin_guard_plugins(void);

// Where the loaded file is that an address belongs to.
bool plugin_guard_find_object(const void *address, uintptr_t *begin, uintptr_t *end);

// Each reports what a plugin did, and ends the process.
void plugin_guard_end_stuck(const plugin_guard_place *place, const char *since);
void plugin_guard_end_exited(const plugin_guard_place *place, const char *what);

int plugin_guard_watch_crashes(void);
int plugin_guard_watch_exits(void);
int plugin_guard_watch_time(plugin_guard_warn warn);

#endif
