/* A libcurl without a network, for unit tests: it keeps what is set on its handles, and a test plays the server by
 * calling the callbacks that were set.
 *
 * It enforces what the real one does: within callbacks no handle is added, removed or unpaused. */
#ifndef CFAKECURL_H
#define CFAKECURL_H

#include <CCurl.h>

/* What a test does in place of curl_multi_perform and curl_multi_poll. */
typedef void (*fake_hook)(void *context);

/* Has CCurl use these functions from now on. Any thread may call it, any number of times. */
void fake_install(void);

/* Sets what happens in each curl_multi_perform of the multis that this thread makes from now on. */
void fake_on_perform(fake_hook hook, void *context);

/* The version that curl_version_info reports to this thread, such as 0x081500, its default. */
void fake_set_version(unsigned int number);

/* Handles of the multi of this thread, in the order in which they were added; NULL past the end. */
CURL *fake_handle(size_t index);
/* How many handles were made and not cleaned up, by this thread. */
int fake_live_handles(void);
/* How many times a function was called within a callback that forbids it, by this thread. */
int fake_violations(void);
/* How many waits of this thread's multi were for the longest time that a loop waits, one minute. */
int fake_longest_waits(void);
/* Forgets everything of this thread. */
void fake_reset(void);

/* What was set with curl_easy_setopt. */
long fake_long(CURL *handle, CURLoption option);
const char *fake_string(CURL *handle, CURLoption option);
/* Whether a list that was set contains this text. */
bool fake_list_contains(CURL *handle, CURLoption option, const char *text);

/* What curl_easy_getinfo reports next. */
void fake_set_reused(CURL *handle, bool is_reused);
void fake_set_negotiated(CURL *handle, const char *name);

/* libcurl's side: each calls the callback that was set, and returns what it returned. */
int fake_connect(CURL *handle);
/* The connection of the handle has this socket. */
void fake_open_socket(CURL *handle, int socket);
int fake_close_socket(CURL *handle, int socket);
size_t fake_read(CURL *handle, char *buffer, size_t capacity);
int fake_seek(CURL *handle, long offset);
size_t fake_line(CURL *handle, const char *line);
size_t fake_body(CURL *handle, const char *bytes, size_t size);
/* Ends the transfer; curl_multi_info_read reports it. */
void fake_complete(CURL *handle, CURLcode code, const char *words);
/* The mask of the last curl_easy_pause, or -1 if there was none. */
int fake_pause_mask(CURL *handle);
/* How many times curl_easy_upkeep was called, by this thread. */
int fake_upkeeps(void);

#endif
