/* libcurl, loaded on first use, behind functions that Swift can call.
 *
 * libcurl brings some 35 libraries with it; linking it would make every start of the program pay for them,
 * also where no server is called. So it is opened with dlopen, and the functions below go through the table
 * that this fills. They also give a fixed type to what libcurl takes as variadic arguments. */
#ifndef CCURL_H
#define CCURL_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

/* Loads libcurl and initialises it, once. NULL on success, else the reason, which stays valid.
 * Must be called on one thread, before any other function here. */
const char *ccurl_load(void);

const char *ccurl_version(void);
curl_version_info_data *ccurl_version_info(void);

CURL *ccurl_easy_init(void);
void ccurl_easy_cleanup(CURL *handle);
const char *ccurl_easy_strerror(CURLcode code);
CURLcode ccurl_easy_pause(CURL *handle, int mask);

typedef size_t (*ccurl_data_callback)(char *data, size_t size, size_t count, void *context);
typedef int (*ccurl_seek_callback)(void *context, curl_off_t offset, int origin);
typedef int (*ccurl_debug_callback)(CURL *handle, curl_infotype kind, char *data, size_t size, void *context);
typedef int (*ccurl_prereq_callback)(void *context, char *ip, char *local_ip, int port, int local_port);

CURLcode ccurl_set_long(CURL *handle, CURLoption option, long value);
CURLcode ccurl_set_string(CURL *handle, CURLoption option, const char *value);
CURLcode ccurl_set_pointer(CURL *handle, CURLoption option, void *value);
CURLcode ccurl_set_list(CURL *handle, CURLoption option, struct curl_slist *value);
CURLcode ccurl_set_data_callback(CURL *handle, CURLoption option, ccurl_data_callback callback);
CURLcode ccurl_set_seek_callback(CURL *handle, ccurl_seek_callback callback);
CURLcode ccurl_set_debug_callback(CURL *handle, ccurl_debug_callback callback);
CURLcode ccurl_set_prereq_callback(CURL *handle, ccurl_prereq_callback callback);

/* Has a connection end whose other end leaves unanswered what was sent, for this long (TCP_USER_TIMEOUT). */
CURLcode ccurl_set_user_timeout(CURL *handle, unsigned int milliseconds);

CURLcode ccurl_get_long(CURL *handle, CURLINFO info, long *value);
CURLcode ccurl_get_offset(CURL *handle, CURLINFO info, curl_off_t *value);

/* Whether the header fields of a response over HTTP/2 have been read, if not yet handed on. */
bool ccurl_has_status(CURL *handle);

/* Whether the other end has closed the connection that the handle uses. */
bool ccurl_is_closed(CURL *handle);

CURLM *ccurl_multi_init(void);
CURLMcode ccurl_multi_cleanup(CURLM *multi);
CURLMcode ccurl_multi_add_handle(CURLM *multi, CURL *handle);
CURLMcode ccurl_multi_remove_handle(CURLM *multi, CURL *handle);
CURLMcode ccurl_multi_perform(CURLM *multi, int *running);
CURLMcode ccurl_multi_poll(CURLM *multi, struct curl_waitfd *extra, unsigned int count, int timeout_ms, int *ready);
CURLMcode ccurl_multi_wakeup(CURLM *multi);
const char *ccurl_multi_strerror(CURLMcode code);

/* The next handle that is done and how it ended; NULL when there is none. */
CURL *ccurl_multi_next_done(CURLM *multi, CURLcode *result);

struct curl_slist *ccurl_slist_append(struct curl_slist *list, const char *text);
void ccurl_slist_free_all(struct curl_slist *list);

#endif
