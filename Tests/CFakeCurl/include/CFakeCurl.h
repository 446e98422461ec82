/* A libcurl without a network, for unit tests: it stores the options of its handles, and the test acts as the
 * server by calling the callbacks.
 *
 * Like the real one, it forbids adding, removing and unpausing handles within callbacks; it counts violations. */
#ifndef CFAKECURL_H
#define CFAKECURL_H

#include <CCurl.h>

/* A test's replacement for the work of curl_multi_perform and curl_multi_poll. */
typedef void (*fake_hook)(void *context);

/* Installs these functions in CCurl. May be called on any thread, any number of times. */
void fake_install(void);

/* Sets the hook for each curl_multi_perform of multis that this thread makes from now on. */
void fake_on_perform(fake_hook hook, void *context);

/* The version that curl_version_info reports to this thread, such as 0x081500, its default. */
void fake_set_version(unsigned int number);

/* The handles of this thread's multi, in the order in which they were added; NULL past the end. */
CURL *fake_handle(size_t index);
/* The number of this thread's handles that were not cleaned up. */
int fake_live_handles(void);
/* The number of calls, on this thread, of functions that are forbidden within callbacks. */
int fake_violations(void);
/* The number of waits of this thread's multi with the maximum timeout of a loop, one minute. */
int fake_longest_waits(void);
/* The number of waits of this thread's multi. */
int fake_polls(void);
/* How many sockets of transfers each wait finds ready. */
void fake_set_ready_sockets(int count);
/* Resets the state of this thread. */
void fake_reset(void);

/* The value set with curl_easy_setopt. */
long fake_long(CURL *handle, CURLoption option);
const char *fake_string(CURL *handle, CURLoption option);
/* Whether a list option contains this text. */
bool fake_list_contains(CURL *handle, CURLoption option, const char *text);

/* Sets the next result of curl_easy_getinfo. */
void fake_set_reused(CURL *handle, bool is_reused);
void fake_set_request_size(CURL *handle, long size);
void fake_set_negotiated(CURL *handle, const char *name);

/* Each function calls the handle's callback, and returns its result. */
int fake_connect(CURL *handle);
/* Sets the socket of the handle's connection. */
void fake_open_socket(CURL *handle, int socket);
int fake_close_socket(CURL *handle, int socket);
size_t fake_read(CURL *handle, char *buffer, size_t capacity);
int fake_seek(CURL *handle, long offset);
size_t fake_line(CURL *handle, const char *line);
size_t fake_body(CURL *handle, const char *bytes, size_t size);
/* Sets the message of an error. */
void fake_report(CURL *handle, const char *words);
/* Clears the message, as libcurl does when it connects. */
void fake_reset_report(CURL *handle);
/* Ends the transfer; curl_multi_info_read reports it. */
void fake_complete(CURL *handle, CURLcode code, const char *words);
/* The mask of the last curl_easy_pause, or -1 if there was none. */
int fake_pause_mask(CURL *handle);
/* The number of calls of curl_easy_upkeep on this thread. */
int fake_upkeeps(void);

#endif
