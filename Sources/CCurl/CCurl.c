#define _GNU_SOURCE /* POLLRDHUP, secure_getenv */
#include "CCurl.h"

#include <dlfcn.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/timerfd.h>
#define LIBCURL "libcurl.so.4"
#else
#define LIBCURL "libcurl.4.dylib"
#define POLLRDHUP 0 /* POLLHUP is reported. */
#define secure_getenv(name) (issetugid() ? NULL : getenv(name))
#endif

/* The oldest supported libcurl: 7.84 and 7.85 have bugs in pausing, 7.88 is in Debian 12. */
#define OLDEST_VERSION 0x075800

/* curl/curl.h hides some functions behind type-checking macros. */
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

static struct ccurl_functions lib;

static ccurl_source source;
static const char *path;

/* A function of OpenSSL as libcurl calls it: its own, unless the program uses OpenSSL too, whose symbols come first. */
static void *openssl_function(void *library, const char *name) {
#ifdef __GLIBC__
  static const char *const versions[] = {"OPENSSL_3.0.0", "OPENSSL_1_1_0"};
  for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
    void *function = dlvsym(library, name, versions[i]) ? dlvsym(RTLD_DEFAULT, name, versions[i]) : NULL;
    if (function) return function;
  }
#endif
  return dlsym(library, name);
}

/* Fills the table from an open library. */
static const char *resolve(void *library) {
  static char error[160];
#define RESOLVE(name)                                                                                          \
  *(void **)&lib.name = dlsym(library, #name);                                                                 \
  if (!lib.name) {                                                                                             \
    snprintf(error, sizeof error, "libcurl lacks the function " #name);                                           \
    return error;                                                                                              \
  }
  CCURL_EACH_FUNCTION(RESOLVE)
  /* Functions of OpenSSL, if libcurl uses it. */
  *(void **)&lib.alpn_selected = openssl_function(library, "SSL_get0_alpn_selected");
  *(void **)&lib.tls_version = openssl_function(library, "SSL_get_version");
  *(void **)&lib.open_file = openssl_function(library, "BIO_new_file");
  *(void **)&lib.close_file = openssl_function(library, "BIO_free");
  *(void **)&lib.read_key = openssl_function(library, "PEM_read_bio_PrivateKey");
  *(void **)&lib.free_key = openssl_function(library, "EVP_PKEY_free");
  *(void **)&lib.tls_error = openssl_function(library, "ERR_get_error");
  *(void **)&lib.multi_waitfds = dlsym(library, "curl_multi_waitfds");
  *(void **)&lib.multi_timeout = dlsym(library, "curl_multi_timeout");
  return NULL;
}

static const char *open_library(const char *name) {
  void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  return library ? resolve(library) : dlerror();
}

#ifdef RPCURL_BUILTIN_LIBCURL
/* Functions of OpenSSL, whose headers are not needed otherwise. */
void SSL_get0_alpn_selected(const void *ssl, const unsigned char **name, unsigned int *length);
const char *SSL_get_version(const void *ssl);
void *BIO_new_file(const char *name, const char *mode);
int BIO_free(void *file);
void *PEM_read_bio_PrivateKey(void *file, void **key, void *callback, void *passphrase);
void EVP_PKEY_free(void *key);
unsigned long ERR_get_error(void);
#endif

/* Fills the table with the linked functions, or from the system's libcurl. */
static const char *use_default(void) {
#ifdef RPCURL_BUILTIN_LIBCURL
  source = CCURL_BUILT_IN;
#define LINKED(name) lib.name = name;
  CCURL_EACH_FUNCTION(LINKED)
  lib.alpn_selected = SSL_get0_alpn_selected;
  lib.tls_version = SSL_get_version;
  lib.open_file = BIO_new_file;
  lib.close_file = BIO_free;
  lib.read_key = PEM_read_bio_PrivateKey;
  lib.free_key = EVP_PKEY_free;
  lib.tls_error = ERR_get_error;
  lib.multi_waitfds = curl_multi_waitfds;
  lib.multi_timeout = curl_multi_timeout;
  return NULL;
#else
  source = CCURL_SYSTEM;
  path = LIBCURL;
  return open_library(path);
#endif
}

static const char *use_named(const char *name) {
  static char error[512];
  source = CCURL_NAMED;
  path = name;
  /* dlopen searches for a name without a slash, and resolves a relative path from the working directory. */
  const char *reason = name[0] == '/' ? open_library(name) : "not an absolute path";
  if (!reason) return NULL;
  /* dlerror() may start with the name. */
  size_t length = strlen(name);
  if (strncmp(reason, name, length) == 0 && strncmp(reason + length, ": ", 2) == 0) reason += length + 2;
  snprintf(error, sizeof error, "RPCURL_LIBCURL: %.200s: %.260s", name, reason);
  return error;
}

static const char *initialise(void) {
  static char error[160];
  curl_version_info_data *info = lib.curl_version_info(CURLVERSION_NOW);
  if (info->version_num < OLDEST_VERSION) {
    snprintf(error, sizeof error, "libcurl %.40s is too old: 7.88.0 or newer is required", info->version);
    return error;
  }
  CURLcode code = lib.curl_global_init(CURL_GLOBAL_DEFAULT);
  if (code != CURLE_OK) {
    snprintf(error, sizeof error, "cannot initialize libcurl: %.100s", lib.curl_easy_strerror(code));
    return error;
  }
  return NULL;
}

/* Loops on several threads may load it at the same time. */
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
/* Whether loading has completed or failed. */
static bool done;

void ccurl_use(const struct ccurl_functions *functions) {
  pthread_mutex_lock(&loading);
  if (!done) lib = *functions;
  done = true;
  pthread_mutex_unlock(&loading);
}

const char *ccurl_load(void) {
  static const char *error;
  pthread_mutex_lock(&loading);
  if (!done) {
    done = true;
    const char *name = secure_getenv("RPCURL_LIBCURL");
    error = name && *name ? use_named(name) : use_default();
    if (!error) error = initialise();
  }
  const char *result = error;
  pthread_mutex_unlock(&loading);
  return result;
}

ccurl_source ccurl_loaded_from(void) { return source; }

bool ccurl_is_patched(void) {
#ifdef LIBCURL_PATCHED_FOR_RPCURL
  return source == CCURL_BUILT_IN;
#else
  return false;
#endif
}

const char *ccurl_path(void) { return path; }

const char *ccurl_version(void) { return lib.curl_version(); }
curl_version_info_data *ccurl_version_info(void) { return lib.curl_version_info(CURLVERSION_NOW); }

CURL *ccurl_easy_init(void) { return lib.curl_easy_init(); }
void ccurl_easy_cleanup(CURL *handle) { lib.curl_easy_cleanup(handle); }
const char *ccurl_easy_strerror(CURLcode code) { return lib.curl_easy_strerror(code); }
CURLcode ccurl_easy_upkeep(CURL *handle) { return lib.curl_easy_upkeep(handle); }
CURLcode ccurl_easy_pause(CURL *handle, int mask) { return lib.curl_easy_pause(handle, mask); }

CURLcode ccurl_set_long(CURL *handle, CURLoption option, long value) {
  return lib.curl_easy_setopt(handle, option, value);
}
CURLcode ccurl_set_string(CURL *handle, CURLoption option, const char *value) {
  return lib.curl_easy_setopt(handle, option, value);
}
CURLcode ccurl_set_bytes(CURL *handle, CURLoption option, const void *bytes, size_t count) {
  struct curl_blob blob = {.data = (void *)bytes, .len = count, .flags = CURL_BLOB_COPY};
  return lib.curl_easy_setopt(handle, option, &blob);
}
CURLcode ccurl_set_pointer(CURL *handle, CURLoption option, void *value) {
  return lib.curl_easy_setopt(handle, option, value);
}
CURLcode ccurl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
  return lib.curl_easy_setopt(handle, option, value);
}
CURLcode ccurl_set_data_callback(CURL *handle, CURLoption option, ccurl_data_callback callback) {
  return lib.curl_easy_setopt(handle, option, callback);
}
CURLcode ccurl_set_seek_callback(CURL *handle, ccurl_seek_callback callback) {
  return lib.curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, callback);
}
CURLcode ccurl_set_debug_callback(CURL *handle, ccurl_debug_callback callback) {
  return lib.curl_easy_setopt(handle, CURLOPT_DEBUGFUNCTION, callback);
}
CURLcode ccurl_set_prereq_callback(CURL *handle, ccurl_prereq_callback callback) {
  return lib.curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, callback);
}

CURLcode ccurl_get_long(CURL *handle, CURLINFO info, long *value) {
  return lib.curl_easy_getinfo(handle, info, value);
}
CURLcode ccurl_get_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
  return lib.curl_easy_getinfo(handle, info, value);
}

CURLcode ccurl_get_socket(CURL *handle, curl_socket_t *socket) {
  return lib.curl_easy_getinfo(handle, CURLINFO_ACTIVESOCKET, socket);
}
const char *ccurl_get_string(CURL *handle, CURLINFO info) {
  char *text = NULL;
  return lib.curl_easy_getinfo(handle, info, &text) == CURLE_OK ? text : NULL;
}

static const struct curl_certinfo *certificates(CURL *handle) {
  struct curl_certinfo *info = NULL;
  return lib.curl_easy_getinfo(handle, CURLINFO_CERTINFO, &info) == CURLE_OK ? info : NULL;
}
int ccurl_certificate_count(CURL *handle) {
  const struct curl_certinfo *info = certificates(handle);
  return info ? info->num_of_certs : 0;
}
const struct curl_slist *ccurl_certificate(CURL *handle, int index) {
  const struct curl_certinfo *info = certificates(handle);
  return info && index >= 0 && index < info->num_of_certs ? info->certinfo[index] : NULL;
}

CURLcode ccurl_set_opened_callback(CURL *handle, ccurl_opened_callback callback) {
  return lib.curl_easy_setopt(handle, CURLOPT_SOCKOPTFUNCTION, callback);
}
CURLcode ccurl_set_close_callback(CURL *handle, ccurl_close_callback callback) {
  return lib.curl_easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, callback);
}

bool ccurl_has_status(CURL *handle) {
  struct curl_header *status;
  return lib.curl_easy_header(handle, ":status", 0, CURLH_PSEUDO, -1, &status) == CURLHE_OK;
}

bool ccurl_is_passphrase_wrong(const char *file, const char *passphrase) {
  if (!lib.open_file || !lib.close_file || !lib.read_key || !lib.free_key || !lib.tls_error) return false;
  void *content = lib.open_file(file, "r");
  if (!content) return false;
  void *key = lib.read_key(content, NULL, NULL, (void *)passphrase);
  if (key) lib.free_key(key);
  lib.close_file(content);
  /* The libraries (ERR_LIB_EVP, ERR_LIB_PROV) and the reason (bad decrypt) of OpenSSL 3. */
  const unsigned long reason = 100, of_envelopes = 6ul << 23 | reason, of_providers = 57ul << 23 | reason;
  bool is_wrong = false;
  for (unsigned long error; (error = lib.tls_error());) is_wrong |= error == of_envelopes || error == of_providers;
  return is_wrong && !key;
}

/* The SSL of OpenSSL of the handle's connection; NULL without one. */
static const void *openssl_session(CURL *handle) {
  struct curl_tlssessioninfo *session = NULL;
  if (lib.curl_easy_getinfo(handle, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK) return NULL;
  return session && session->backend == CURLSSLBACKEND_OPENSSL ? session->internals : NULL;
}

const char *ccurl_tls_version(CURL *handle) {
  const void *session = lib.tls_version ? openssl_session(handle) : NULL;
  return session ? lib.tls_version(session) : NULL;
}

bool ccurl_negotiated(CURL *handle, char *name, size_t capacity) {
  const void *session = lib.alpn_selected ? openssl_session(handle) : NULL;
  if (!session) return false;
  const unsigned char *selected = NULL;
  unsigned int length = 0;
  lib.alpn_selected(session, &selected, &length);
  snprintf(name, capacity, "%.*s", (int)length, selected ? (const char *)selected : "");
  return true;
}

int ccurl_local_port(int socket) {
  struct sockaddr_storage address = {0};
  socklen_t size = sizeof address;
  if (getsockname(socket, (struct sockaddr *)&address, &size)) return 0;
  switch (address.ss_family) {
  case AF_INET: return ntohs(((struct sockaddr_in *)&address)->sin_port);
  case AF_INET6: return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
  default: return 0;
  }
}

bool ccurl_is_closed(int socket) {
  struct pollfd state = {.fd = socket, .events = POLLRDHUP};
  return poll(&state, 1, 0) > 0;
}

/* The number of idle connections to keep. libcurl's default is four per handle in the multi at the time, so a
 * batch whose calls end together would lose most of its connections. */
#define IDLE_CONNECTIONS 1000L
/* The server's limit counts. By default, libcurl has at most 100 streams on a connection, and a connection for each hundred of
 * calls at once: it searches all of them for each call, and calls may wait for the end of another one. */
#define STREAMS ((long)INT_MAX)

CURLM *ccurl_multi_init(void) {
  CURLM *multi = lib.curl_multi_init();
  if (!multi) return NULL;
  (void)lib.curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, IDLE_CONNECTIONS);
  (void)lib.curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, STREAMS);
  return multi;
}
CURLMcode ccurl_multi_cleanup(CURLM *multi) { return lib.curl_multi_cleanup(multi); }
CURLMcode ccurl_multi_add_handle(CURLM *multi, CURL *handle) { return lib.curl_multi_add_handle(multi, handle); }
CURLMcode ccurl_multi_remove_handle(CURLM *multi, CURL *handle) {
  return lib.curl_multi_remove_handle(multi, handle);
}
CURLMcode ccurl_multi_perform(CURLM *multi, int *running) { return lib.curl_multi_perform(multi, running); }
CURLMcode ccurl_multi_poll(CURLM *multi, struct curl_waitfd *extra, unsigned int count, int timeout_ms, int *ready) {
  return lib.curl_multi_poll(multi, extra, count, timeout_ms, ready);
}
CURLMcode ccurl_multi_wakeup(CURLM *multi) { return lib.curl_multi_wakeup(multi); }
const char *ccurl_multi_strerror(CURLMcode code) { return lib.curl_multi_strerror(code); }

CURLMcode ccurl_multi_limit_connections(CURLM *multi, long count) {
  return lib.curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, count);
}

bool ccurl_has_waitfds(void) { return lib.multi_waitfds && lib.multi_timeout; }

CURLMcode ccurl_multi_waitfds(CURLM *multi, struct curl_waitfd *sockets, unsigned int size, unsigned int *count) {
  *count = 0;
  if (!lib.multi_waitfds) return CURLM_OK;
  CURLMcode code = lib.multi_waitfds(multi, sockets, size, count);
  /* The buffer is too small: the count is that of all sockets. */
  return code == CURLM_OUT_OF_MEMORY && *count > size ? CURLM_OK : code;
}

long ccurl_multi_timeout(CURLM *multi) {
  long milliseconds = -1;
  if (!lib.multi_timeout || lib.multi_timeout(multi, &milliseconds) != CURLM_OK) return -1;
  return milliseconds;
}

#ifdef __linux__
/* Errors are ignored: it applies only to TCP sockets. */
void ccurl_set_user_timeout(int socket, unsigned int milliseconds) {
  (void)setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
}

long ccurl_silence(int socket) {
  struct tcp_info info = {0};
  socklen_t size = sizeof info;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size)) return -1;
  int unread = 0;
  if (!ioctl(socket, FIONREAD, &unread) && unread > 0) return 0;
  return (long)info.tcpi_last_data_recv;
}

void ccurl_cork(int socket, bool is_corked) {
  int value = is_corked;
  (void)setsockopt(socket, IPPROTO_TCP, TCP_CORK, &value, sizeof value);
}

int ccurl_timer_open(void) { return timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC); }

void ccurl_timer_set(int timer, int64_t nanoseconds) {
  /* Zero would stop the timer. */
  if (nanoseconds < 1) nanoseconds = 1;
  struct itimerspec spec = {
      .it_value = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000},
  };
  (void)timerfd_settime(timer, 0, &spec, NULL);
}
#else
void ccurl_set_user_timeout(int socket, unsigned int milliseconds) { (void)socket, (void)milliseconds; }
long ccurl_silence(int socket) { return (void)socket, -1; }
void ccurl_cork(int socket, bool is_corked) { (void)socket, (void)is_corked; }
int ccurl_timer_open(void) { return -1; }
void ccurl_timer_set(int timer, int64_t nanoseconds) { (void)timer, (void)nanoseconds; }
#endif

CURL *ccurl_multi_next_done(CURLM *multi, CURLcode *result) {
  int left;
  CURLMsg *message;
  while ((message = lib.curl_multi_info_read(multi, &left))) {
    if (message->msg == CURLMSG_DONE) {
      *result = message->data.result;
      return message->easy_handle;
    }
  }
  return NULL;
}

struct curl_slist *ccurl_slist_append(struct curl_slist *list, const char *text) {
  return lib.curl_slist_append(list, text);
}
void ccurl_slist_free_all(struct curl_slist *list) { lib.curl_slist_free_all(list); }
