/* C functions for Swift around libcurl.
 *
 * All of them use a table of libcurl's functions, which ccurl_load() fills on first use: from the libcurl linked
 * into the program (RPCURL_BUILTIN_LIBCURL), the system's, or the one that the environment variable RPCURL_LIBCURL
 * names. They also give fixed types to libcurl's variadic arguments. */
#ifndef CCURL_H
#define CCURL_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The functions of libcurl that are used. A table, not the linker, selects the libcurl: the program's, or one
 * without a network in unit tests. */
#define CCURL_EACH_FUNCTION(X) \
  X(curl_global_init)                \
  X(curl_version)                    \
  X(curl_version_info)               \
  X(curl_easy_init)                  \
  X(curl_easy_cleanup)               \
  X(curl_easy_strerror)              \
  X(curl_easy_pause)                 \
  X(curl_easy_upkeep)                \
  X(curl_easy_header)                \
  X(curl_easy_setopt)                \
  X(curl_easy_getinfo)               \
  X(curl_multi_init)                 \
  X(curl_multi_setopt)               \
  X(curl_multi_cleanup)              \
  X(curl_multi_add_handle)           \
  X(curl_multi_remove_handle)        \
  X(curl_multi_perform)              \
  X(curl_multi_poll)                 \
  X(curl_multi_wakeup)               \
  X(curl_multi_strerror)             \
  X(curl_multi_info_read)            \
  X(curl_slist_append)               \
  X(curl_slist_free_all)

#pragma push_macro("curl_easy_setopt")
#pragma push_macro("curl_easy_getinfo")
#pragma push_macro("curl_multi_setopt")
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt
/* `__typeof__` keeps the declared type of each. */
#define CCURL_MEMBER(name) __typeof__(&name) name;
struct ccurl_functions {
  CCURL_EACH_FUNCTION(CCURL_MEMBER)
  /* SSL_get0_alpn_selected of OpenSSL; NULL if libcurl uses another TLS library. */
  void (*alpn_selected)(const void *ssl, const unsigned char **name, unsigned int *length);
  /* SSL_get_version of OpenSSL, or NULL. */
  const char *(*tls_version)(const void *ssl);
  /* BIO_new_file, BIO_free, PEM_read_bio_PrivateKey, EVP_PKEY_free and ERR_get_error of OpenSSL; NULL if libcurl uses
   * another TLS library. */
  void *(*open_file)(const char *name, const char *mode);
  int (*close_file)(void *file);
  void *(*read_key)(void *file, void **key, void *callback, void *passphrase);
  void (*free_key)(void *key);
  unsigned long (*tls_error)(void);
  /* Of libcurl 8.8 and newer, or NULL; and of all versions. */
  CURLMcode (*multi_waitfds)(CURLM *multi, struct curl_waitfd *sockets, unsigned int size, unsigned int *count);
  CURLMcode (*multi_timeout)(CURLM *multi, long *milliseconds);
};
#undef CCURL_MEMBER
#pragma pop_macro("curl_easy_setopt")
#pragma pop_macro("curl_easy_getinfo")
#pragma pop_macro("curl_multi_setopt")

/* Uses these functions instead of loading a libcurl, if none is loaded. For unit tests; must be called first. */
void ccurl_use(const struct ccurl_functions *functions);

/* Loads and initializes libcurl, once. Returns NULL on success, else the reason, which stays valid. Must be called
 * on one thread, before any other function here. */
const char *ccurl_load(void);

/* The origin of a libcurl. */
typedef enum {
  CCURL_BUILT_IN, /* linked into the program */
  CCURL_SYSTEM,   /* found by the dynamic loader */
  CCURL_NAMED,    /* named by RPCURL_LIBCURL */
} ccurl_source;

/* The origin of the libcurl that ccurl_load() tried to load, also if it failed. */
ccurl_source ccurl_loaded_from(void);

/* Whether the libcurl in use has the changes of scripts/libcurl.patch. */
bool ccurl_is_patched(void);

/* The name that ccurl_load() opened; NULL for the built-in libcurl. Valid while the environment is unchanged. */
const char *ccurl_path(void);

const char *ccurl_version(void);
curl_version_info_data *ccurl_version_info(void);

CURL *ccurl_easy_init(void);
void ccurl_easy_cleanup(CURL *handle);
const char *ccurl_easy_strerror(CURLcode code);
/* Sends a PING on each HTTP/2 connection of the handle's multi. */
CURLcode ccurl_easy_upkeep(CURL *handle);
CURLcode ccurl_easy_pause(CURL *handle, int mask);

/* A macro in some versions of curl/curl.h and an enumerator in others, which Swift imports with different types. */
static const long ccurl_netrc_optional = CURL_NETRC_OPTIONAL;

typedef size_t (*ccurl_data_callback)(char *data, size_t size, size_t count, void *context);
typedef int (*ccurl_seek_callback)(void *context, curl_off_t offset, int origin);
typedef int (*ccurl_debug_callback)(CURL *handle, curl_infotype kind, char *data, size_t size, void *context);
typedef int (*ccurl_prereq_callback)(void *context, char *ip, char *local_ip, int port, int local_port);
/* Callbacks for a socket that was opened, and one that is to be closed. */
typedef int (*ccurl_opened_callback)(void *context, curl_socket_t socket, curlsocktype purpose);
typedef int (*ccurl_close_callback)(void *context, curl_socket_t socket);

CURLcode ccurl_set_long(CURL *handle, CURLoption option, long value);
CURLcode ccurl_set_string(CURL *handle, CURLoption option, const char *value);
/* Sets an option to a copy of the bytes. */
CURLcode ccurl_set_bytes(CURL *handle, CURLoption option, const void *bytes, size_t count);
CURLcode ccurl_set_pointer(CURL *handle, CURLoption option, void *value);
CURLcode ccurl_set_list(CURL *handle, CURLoption option, struct curl_slist *value);
CURLcode ccurl_set_data_callback(CURL *handle, CURLoption option, ccurl_data_callback callback);
CURLcode ccurl_set_seek_callback(CURL *handle, ccurl_seek_callback callback);
CURLcode ccurl_set_debug_callback(CURL *handle, ccurl_debug_callback callback);
CURLcode ccurl_set_prereq_callback(CURL *handle, ccurl_prereq_callback callback);
CURLcode ccurl_set_opened_callback(CURL *handle, ccurl_opened_callback callback);
CURLcode ccurl_set_close_callback(CURL *handle, ccurl_close_callback callback);

CURLcode ccurl_get_long(CURL *handle, CURLINFO info, long *value);
CURLcode ccurl_get_offset(CURL *handle, CURLINFO info, curl_off_t *value);

CURLcode ccurl_get_socket(CURL *handle, curl_socket_t *socket);

/* A text that belongs to the handle; NULL if unknown. */
const char *ccurl_get_string(CURL *handle, CURLINFO info);

/* The version of TLS of the handle's connection, such as "TLSv1.3"; NULL without TLS, or if libcurl uses another TLS
 * library than OpenSSL. */
const char *ccurl_tls_version(CURL *handle);

/* The number of certificates that CURLOPT_CERTINFO has collected, and the lines of one, which belong to the handle. */
int ccurl_certificate_count(CURL *handle);
const struct curl_slist *ccurl_certificate(CURL *handle, int index);

/* Whether libcurl has read the header fields of an HTTP/2 response, delivered or not. */
bool ccurl_has_status(CURL *handle);

/* Whether OpenSSL cannot decrypt the private key in a PEM file with a passphrase. False also if the file has no key. */
bool ccurl_is_passphrase_wrong(const char *file, const char *passphrase);

/* Copies the protocol that TLS negotiated (ALPN) for the handle's connection, such as "h2", to `name`; "" for
 * none. Returns false if it is unknown: no TLS, or a TLS library other than OpenSSL. */
bool ccurl_negotiated(CURL *handle, char *name, size_t capacity);

/* Sets the time after which TCP closes a connection with unacknowledged data (TCP_USER_TIMEOUT). */
void ccurl_set_user_timeout(int socket, unsigned int milliseconds);

/* Whether a socket holds bytes that are sent until it is uncorked (TCP_CORK). */
void ccurl_cork(int socket, bool is_corked);

/* The local port of a socket; 0 if it has none. */
int ccurl_local_port(int socket);

/* Milliseconds since a socket last received data (TCP_INFO); 0 if it has unread data; -1 if it is not a TCP socket. */
long ccurl_silence(int socket);

/* Whether the peer has closed the socket's connection. */
bool ccurl_is_closed(int socket);

CURLM *ccurl_multi_init(void);
CURLMcode ccurl_multi_cleanup(CURLM *multi);
CURLMcode ccurl_multi_add_handle(CURLM *multi, CURL *handle);
CURLMcode ccurl_multi_remove_handle(CURLM *multi, CURL *handle);
CURLMcode ccurl_multi_perform(CURLM *multi, int *running);
CURLMcode ccurl_multi_poll(CURLM *multi, struct curl_waitfd *extra, unsigned int count, int timeout_ms, int *ready);
CURLMcode ccurl_multi_wakeup(CURLM *multi);
const char *ccurl_multi_strerror(CURLMcode code);
/* Limits the connections to one server; further transfers wait. */
CURLMcode ccurl_multi_limit_connections(CURLM *multi, long count);
/* Whether ccurl_multi_waitfds() works: libcurl is 8.8 or newer. */
bool ccurl_has_waitfds(void);
/* Copies the sockets that a multi waits for, and stores their number, which may be larger than `size`. */
CURLMcode ccurl_multi_waitfds(CURLM *multi, struct curl_waitfd *sockets, unsigned int size, unsigned int *count);
/* The time until the next timer of a multi, in milliseconds; -1 if there is no timer. */
long ccurl_multi_timeout(CURLM *multi);

/* A descriptor that becomes readable at a time (timerfd); -1 on failure. */
int ccurl_timer_open(void);
/* Makes the descriptor unreadable until some nanoseconds have passed. */
void ccurl_timer_set(int timer, int64_t nanoseconds);

/* The next completed handle and its result; NULL if there is none. */
CURL *ccurl_multi_next_done(CURLM *multi, CURLcode *result);

struct curl_slist *ccurl_slist_append(struct curl_slist *list, const char *text);
void ccurl_slist_free_all(struct curl_slist *list);

/* The ASCII form of a host name in UTF-8 (IDNA 2008), which is freed with ccurl_ascii_name_free(). Returns NULL, or
 * the reason of the failure. libidn2 is loaded when a name needs it: its tables are 0.3 MB. */
const char *ccurl_ascii_name(const char *name, char **ascii);
void ccurl_ascii_name_free(char *ascii);

#endif
