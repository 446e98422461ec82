#include "CFakeCurl.h"

#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#undef curl_easy_setopt
#undef curl_easy_getinfo

#define MAX_OPTIONS 64
#define MAX_HANDLES 256

struct option {
  CURLoption name;
  long number;
  char *text;
  void *pointer;
  void (*function)(void);
};

struct easy {
  struct option options[MAX_OPTIONS];
  int option_count;
  bool is_reused;
  bool is_done;
  bool is_reported;
  CURLcode code;
  int pause_mask;
  int port;
  const char *negotiated;
  long request_size;
  struct curl_tlssessioninfo session;
  CURLMsg message;
};

/* Each test runs on its own thread, with a loop on this thread. */
static _Thread_local struct {
  struct easy *handles[MAX_HANDLES];
  int count;
  int live;
  int violations;
  int upkeeps;
  int in_callback;
  int longest_waits;
  int polls;
  int ready_sockets;
  fake_hook hook;
  void *context;
  /* For a wait that another thread ends. */
  pthread_mutex_t lock;
  pthread_cond_t wakeup;
  bool is_awake;
} this = {.lock = PTHREAD_MUTEX_INITIALIZER, .wakeup = PTHREAD_COND_INITIALIZER};

static _Thread_local unsigned int version;

/* --- libcurl's functions --- */

static CURLcode global_init(long flags) {
  (void)flags;
  return CURLE_OK;
}

static char *version_words(void) { return "libcurl/0.0.0-fake"; }

static curl_version_info_data *version_info(CURLversion age) {
  (void)age;
  static _Thread_local curl_version_info_data info;
  info.version = "fake";
  info.version_num = version ? version : 0x081500;
  info.features = CURL_VERSION_HTTP2 | CURL_VERSION_SSL;
  return &info;
}

static CURL *easy_init(void) {
  struct easy *easy = calloc(1, sizeof *easy);
  if (!easy) return NULL;
  easy->pause_mask = -1;
  this.live++;
  return easy;
}

static void easy_cleanup(CURL *handle) {
  struct easy *easy = handle;
  for (int i = 0; i < this.count; i++) {
    if (this.handles[i] == easy) this.violations++; /* it is still in the multi */
  }
  for (int i = 0; i < easy->option_count; i++) free(easy->options[i].text);
  free(easy);
  this.live--;
}

static const char *easy_strerror(CURLcode code) { return code == CURLE_OK ? "no error" : "a fake error"; }

static CURLcode easy_pause(CURL *handle, int mask) {
  if (this.in_callback) this.violations++;
  ((struct easy *)handle)->pause_mask = mask;
  return CURLE_OK;
}

static CURLcode easy_upkeep(CURL *handle) {
  (void)handle;
  if (this.in_callback) this.violations++;
  this.upkeeps++;
  return CURLE_OK;
}

static CURLHcode easy_header(CURL *easy, const char *name, size_t index, unsigned int origin, int request,
                             struct curl_header **header) {
  (void)easy, (void)name, (void)index, (void)origin, (void)request, (void)header;
  return CURLHE_MISSING;
}

static struct option *find(struct easy *easy, CURLoption name, bool add) {
  for (int i = 0; i < easy->option_count; i++) {
    if (easy->options[i].name == name) return &easy->options[i];
  }
  if (!add || easy->option_count == MAX_OPTIONS) return NULL;
  struct option *option = &easy->options[easy->option_count++];
  option->name = name;
  return option;
}

static CURLcode easy_setopt(CURL *handle, CURLoption name, ...) {
  struct option *option = find(handle, name, true);
  if (!option) return CURLE_OUT_OF_MEMORY;
  va_list arguments;
  va_start(arguments, name);
  if (name < CURLOPTTYPE_OBJECTPOINT) {
    option->number = va_arg(arguments, long);
  } else if (name < CURLOPTTYPE_FUNCTIONPOINT) {
    option->pointer = va_arg(arguments, void *);
    bool is_text = name == CURLOPT_URL || name == CURLOPT_PROXY || name == CURLOPT_NOPROXY || name == CURLOPT_PROTOCOLS_STR ||
                   name == CURLOPT_UNIX_SOCKET_PATH || name == CURLOPT_CAINFO || name == CURLOPT_CAPATH || name == CURLOPT_SSLCERT;
    free(option->text);
    option->text = is_text && option->pointer ? strdup(option->pointer) : NULL;
  } else {
    option->function = va_arg(arguments, void (*)(void));
  }
  va_end(arguments);
  return CURLE_OK;
}

static CURLcode easy_getinfo(CURL *handle, CURLINFO info, ...) {
  struct easy *easy = handle;
  va_list arguments;
  va_start(arguments, info);
  void *value = va_arg(arguments, void *);
  va_end(arguments);
  switch (info) {
  case CURLINFO_NUM_CONNECTS: *(long *)value = easy->is_reused ? 0 : 1; break;
  case CURLINFO_OS_ERRNO: *(long *)value = 0; break;
  case CURLINFO_REQUEST_SIZE: *(long *)value = easy->request_size; break;
  case CURLINFO_TLS_SSL_PTR:
    easy->session.backend = CURLSSLBACKEND_OPENSSL;
    easy->session.internals = easy->negotiated ? (void *)easy->negotiated : NULL;
    *(struct curl_tlssessioninfo **)value = &easy->session;
    break;
  default: *(curl_off_t *)value = 0;
  }
  return CURLE_OK;
}

static void alpn_selected(const void *ssl, const unsigned char **name, unsigned int *length) {
  *name = ssl;
  *length = (unsigned int)strlen(ssl);
}

static CURLM *multi_init(void) { return &this; }

static CURLMcode multi_setopt(CURLM *multi, CURLMoption option, ...) {
  (void)multi;
  (void)option;
  return CURLM_OK;
}

static CURLMcode multi_cleanup(CURLM *multi) {
  (void)multi;
  if (this.count) this.violations++;
  return CURLM_OK;
}

static CURLMcode multi_add_handle(CURLM *multi, CURL *easy) {
  (void)multi;
  if (this.in_callback) {
    this.violations++;
    return CURLM_RECURSIVE_API_CALL;
  }
  if (this.count == MAX_HANDLES) return CURLM_OUT_OF_MEMORY;
  struct easy *added = easy;
  added->is_done = added->is_reported = false;
  this.handles[this.count++] = added;
  return CURLM_OK;
}

static CURLMcode multi_remove_handle(CURLM *multi, CURL *easy) {
  (void)multi;
  if (this.in_callback) {
    this.violations++;
    return CURLM_RECURSIVE_API_CALL;
  }
  for (int i = 0; i < this.count; i++) {
    if (this.handles[i] != easy) continue;
    memmove(&this.handles[i], &this.handles[i + 1], (size_t)(this.count - i - 1) * sizeof *this.handles);
    this.count--;
    return CURLM_OK;
  }
  return CURLM_BAD_EASY_HANDLE;
}

static CURLMcode multi_perform(CURLM *multi, int *running) {
  (void)multi;
  if (this.hook) this.hook(this.context);
  *running = this.count;
  return CURLM_OK;
}

/* Waits for another thread, or until the time has passed. Returns whether a thread has ended the wait. */
static bool wait_for_wakeup(int milliseconds) {
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += milliseconds / 1000;
  end.tv_nsec += milliseconds % 1000 * 1000000L;
  if (end.tv_nsec >= 1000000000L) {
    end.tv_sec++;
    end.tv_nsec -= 1000000000L;
  }
  pthread_mutex_lock(&this.lock);
  while (!this.is_awake && pthread_cond_timedwait(&this.wakeup, &this.lock, &end) == 0) continue;
  bool was_awake = this.is_awake;
  this.is_awake = false;
  pthread_mutex_unlock(&this.lock);
  return was_awake;
}

/* Which descriptors are ready. As in libcurl, one whose peer is closed is counted, but not reported. */
static int ready_descriptors(struct curl_waitfd *extra, unsigned int count) {
  int ready = 0;
  for (unsigned int i = 0; i < count; i++) {
    struct pollfd one = {.fd = extra[i].fd, .events = extra[i].events == CURL_WAIT_POLLOUT ? POLLOUT : POLLIN};
    if (poll(&one, 1, 0) > 0) ready++;
    extra[i].revents = one.revents & POLLIN ? CURL_WAIT_POLLIN : one.revents & POLLOUT ? CURL_WAIT_POLLOUT : 0;
  }
  return ready;
}

static CURLMcode multi_poll(CURLM *multi, struct curl_waitfd *extra, unsigned int count, int timeout, int *ready) {
  (void)multi;
  if (timeout >= 60000) this.longest_waits++;
  this.polls++;
  *ready = ready_descriptors(extra, count) + this.ready_sockets;
  /* The rounds of a test with a hook follow one another. */
  if (this.hook) return CURLM_OK;
  for (int slice = count > 0 ? 10 : timeout; *ready == 0 && timeout >= 0; timeout -= slice) {
    if (wait_for_wakeup(timeout < slice ? timeout : slice) || timeout <= slice) break;
    *ready = ready_descriptors(extra, count);
  }
  return CURLM_OK;
}

static CURLMcode multi_waitfds(CURLM *multi, struct curl_waitfd *sockets, unsigned int size, unsigned int *count) {
  (void)multi, (void)sockets, (void)size;
  *count = 0;
  return CURLM_OK;
}

static CURLMcode multi_timeout(CURLM *multi, long *milliseconds) {
  (void)multi;
  *milliseconds = -1;
  return CURLM_OK;
}

static CURLMcode multi_wakeup(CURLM *multi) {
  __typeof__(this) *woken = multi;
  pthread_mutex_lock(&woken->lock);
  woken->is_awake = true;
  pthread_cond_signal(&woken->wakeup);
  pthread_mutex_unlock(&woken->lock);
  return CURLM_OK;
}

static const char *multi_strerror(CURLMcode code) { return code == CURLM_OK ? "no error" : "a fake error"; }

static CURLMsg *multi_info_read(CURLM *multi, int *left) {
  (void)multi;
  *left = 0;
  for (int i = 0; i < this.count; i++) {
    struct easy *easy = this.handles[i];
    if (!easy->is_done || easy->is_reported) continue;
    easy->is_reported = true;
    easy->message = (CURLMsg){.msg = CURLMSG_DONE, .easy_handle = easy, .data.result = easy->code};
    return &easy->message;
  }
  return NULL;
}

static struct curl_slist *slist_append(struct curl_slist *list, const char *text) {
  struct curl_slist *item = calloc(1, sizeof *item);
  if (!item) return NULL;
  item->data = strdup(text);
  if (!list) return item;
  struct curl_slist *last = list;
  while (last->next) last = last->next;
  last->next = item;
  return list;
}

static void slist_free_all(struct curl_slist *list) {
  while (list) {
    struct curl_slist *next = list->next;
    free(list->data);
    free(list);
    list = next;
  }
}

/* Before any test: the first that uses libcurl decides which one all tests of the process use. */
__attribute__((constructor)) void fake_install(void) {
  static const struct ccurl_functions functions = {
      .curl_global_init = global_init,
      .curl_version = version_words,
      .curl_version_info = version_info,
      .curl_easy_init = easy_init,
      .curl_easy_cleanup = easy_cleanup,
      .curl_easy_strerror = easy_strerror,
      .curl_easy_pause = easy_pause,
      .curl_easy_upkeep = easy_upkeep,
      .curl_easy_header = easy_header,
      .curl_easy_setopt = easy_setopt,
      .curl_easy_getinfo = easy_getinfo,
      .curl_multi_init = multi_init,
      .curl_multi_setopt = multi_setopt,
      .curl_multi_cleanup = multi_cleanup,
      .curl_multi_add_handle = multi_add_handle,
      .curl_multi_remove_handle = multi_remove_handle,
      .curl_multi_perform = multi_perform,
      .curl_multi_poll = multi_poll,
      .curl_multi_wakeup = multi_wakeup,
      .curl_multi_strerror = multi_strerror,
      .curl_multi_info_read = multi_info_read,
      .curl_slist_append = slist_append,
      .curl_slist_free_all = slist_free_all,
      .alpn_selected = alpn_selected,
      .multi_waitfds = multi_waitfds,
      .multi_timeout = multi_timeout,
  };
  ccurl_use(&functions);
}

/* --- the test's side --- */

void fake_on_perform(fake_hook hook, void *context) {
  this.hook = hook;
  this.context = context;
}

void fake_set_version(unsigned int number) { version = number; }
CURL *fake_handle(size_t index) { return (int)index < this.count ? this.handles[index] : NULL; }
int fake_live_handles(void) { return this.live; }
int fake_violations(void) { return this.violations; }
int fake_upkeeps(void) { return this.upkeeps; }
int fake_longest_waits(void) { return this.longest_waits; }
int fake_polls(void) { return this.polls; }
void fake_set_ready_sockets(int count) { this.ready_sockets = count; }

void fake_reset(void) {
  memset(&this, 0, sizeof this);
  version = 0;
}

long fake_long(CURL *handle, CURLoption option) {
  struct option *found = find(handle, option, false);
  return found ? found->number : -1;
}

const char *fake_string(CURL *handle, CURLoption option) {
  struct option *found = find(handle, option, false);
  return found ? found->text : NULL;
}

bool fake_list_contains(CURL *handle, CURLoption option, const char *text) {
  struct option *found = find(handle, option, false);
  for (struct curl_slist *item = found ? found->pointer : NULL; item; item = item->next) {
    if (strcmp(item->data, text) == 0) return true;
  }
  return false;
}

void fake_set_reused(CURL *handle, bool is_reused) { ((struct easy *)handle)->is_reused = is_reused; }
void fake_set_request_size(CURL *handle, long size) { ((struct easy *)handle)->request_size = size; }
void fake_set_negotiated(CURL *handle, const char *name) { ((struct easy *)handle)->negotiated = name; }

static void *pointer(CURL *handle, CURLoption option) {
  struct option *found = find(handle, option, false);
  return found ? found->pointer : NULL;
}

#define CALLBACK(type, option) ((type)find(handle, option, false)->function)

void fake_open_socket(CURL *handle, int socket) {
  this.in_callback++;
  CALLBACK(ccurl_opened_callback, CURLOPT_SOCKOPTFUNCTION)(pointer(handle, CURLOPT_SOCKOPTDATA), socket, CURLSOCKTYPE_IPCXN);
  this.in_callback--;
  ((struct easy *)handle)->port = ccurl_local_port(socket);
}

int fake_close_socket(CURL *handle, int socket) {
  return CALLBACK(ccurl_close_callback, CURLOPT_CLOSESOCKETFUNCTION)(pointer(handle, CURLOPT_CLOSESOCKETDATA), socket);
}

int fake_connect(CURL *handle) {
  this.in_callback++;
  int port = ((struct easy *)handle)->port;
  int result = CALLBACK(ccurl_prereq_callback, CURLOPT_PREREQFUNCTION)(pointer(handle, CURLOPT_PREREQDATA), "", "", 0, port);
  this.in_callback--;
  return result;
}

size_t fake_read(CURL *handle, char *buffer, size_t capacity) {
  this.in_callback++;
  size_t result =
      CALLBACK(ccurl_data_callback, CURLOPT_READFUNCTION)(buffer, 1, capacity, pointer(handle, CURLOPT_READDATA));
  this.in_callback--;
  return result;
}

int fake_seek(CURL *handle, long offset) {
  this.in_callback++;
  int result = CALLBACK(ccurl_seek_callback, CURLOPT_SEEKFUNCTION)(pointer(handle, CURLOPT_SEEKDATA), offset, SEEK_SET);
  this.in_callback--;
  return result;
}

size_t fake_line(CURL *handle, const char *line) {
  this.in_callback++;
  size_t result = CALLBACK(ccurl_data_callback, CURLOPT_HEADERFUNCTION)((char *)line, 1, strlen(line),
                                                                       pointer(handle, CURLOPT_HEADERDATA));
  this.in_callback--;
  return result;
}

size_t fake_body(CURL *handle, const char *bytes, size_t size) {
  this.in_callback++;
  size_t result = CALLBACK(ccurl_data_callback, CURLOPT_WRITEFUNCTION)((char *)bytes, 1, size,
                                                                      pointer(handle, CURLOPT_WRITEDATA));
  this.in_callback--;
  return result;
}

void fake_report(CURL *handle, const char *words) {
  char *buffer = pointer(handle, CURLOPT_ERRORBUFFER);
  if (buffer && words) strncpy(buffer, words, CURL_ERROR_SIZE - 1);
}

void fake_reset_report(CURL *handle) {
  char *buffer = pointer(handle, CURLOPT_ERRORBUFFER);
  if (buffer) buffer[0] = 0;
}

void fake_complete(CURL *handle, CURLcode code, const char *words) {
  struct easy *easy = handle;
  fake_report(handle, words);
  easy->is_done = true;
  easy->code = code;
}

int fake_pause_mask(CURL *handle) { return ((struct easy *)handle)->pause_mask; }
