/*
 * stamp: an example plugin to copy and change.
 *
 * It stamps each call: it sets a header of the request, and adds a prefix or suffix to a string field of each message in
 * both directions.
 *
 *     cc -shared -fPIC -fvisibility=hidden -o stamp.so stamp.c
 *     rpcurl --plugin ./stamp.so,header=x-stamp:hello,request-field=name,request-suffix=!  ...
 *
 * A plugin is one shared object with one RPCURL_PLUGIN. The host calls it in this order:
 *
 *     load -> configure (each key) -> ready -> [ open -> stages of the call -> close ] for each call -> unload
 */
#include <rpcurl/plugin.h>

#include <stdlib.h>
#include <string.h>

/* ---- Configuration: a structure for each --plugin stamp --------------------------------------------------- */

/* The change of a string field in the messages of one direction. */
struct change {
  char *field;  /* the field's path; null: no change */
  char *value;  /* replaces the value; null: keeps it */
  char *prefix; /* added before the value; may be null */
  char *suffix; /* added after the value; may be null */
};

struct stamp {
  char *header_name;
  char *header_value;
  struct change request, response;
};

/* Copies a text from the host, which owns the original. */
static char *copy(rpcurl_text text) {
  char *result = malloc(text.size + 1);
  if (result == NULL) return NULL;
  if (text.size > 0) memcpy(result, text.data, text.size);
  result[text.size] = 0;
  return result;
}

static int32_t keep(const rpcurl_host *host, char **place, rpcurl_text value) {
  char *copied = copy(value);
  if (copied == NULL) return rpcurl_fail(host, "out of memory");
  free(*place);
  *place = copied;
  return RPCURL_OK;
}

/* [main] Called first. The other callbacks receive `*plugin`, so no global variable is needed. */
static int32_t load(const rpcurl_host *host, void **plugin) {
  struct stamp *stamp = calloc(1, sizeof(*stamp));
  if (stamp == NULL) return rpcurl_fail(host, "out of memory");
  *plugin = stamp;
  return RPCURL_OK;
}

/* [main] NAME:VALUE sets a header; a name alone has the value 1. */
static int32_t configure_header(const rpcurl_host *host, struct stamp *stamp, rpcurl_text value) {
  size_t colon = 0;
  while (colon < value.size && value.data[colon] != ':') colon++;
  if (colon == 0) return rpcurl_fail(host, "is not of the form NAME:VALUE");
  rpcurl_text name = {value.data, colon};
  rpcurl_text rest = RPCURL_TEXT("1");
  if (colon < value.size) {
    rest.data = value.data + colon + 1;
    rest.size = value.size - colon - 1;
  }
  int32_t result = keep(host, &stamp->header_name, name);
  return result < 0 ? result : keep(host, &stamp->header_value, rest);
}

/* [main] Sets a key, in the order written. An unknown key is an error, to detect typing errors. */
static int32_t configure(const rpcurl_host *host, void *plugin, rpcurl_text key, rpcurl_text value) {
  struct stamp *stamp = plugin;
  const struct {
    rpcurl_text key;
    char **place;
  } keys[] = {
      {RPCURL_TEXT("request-field"), &stamp->request.field},
      {RPCURL_TEXT("request-value"), &stamp->request.value},
      {RPCURL_TEXT("request-prefix"), &stamp->request.prefix},
      {RPCURL_TEXT("request-suffix"), &stamp->request.suffix},
      {RPCURL_TEXT("response-field"), &stamp->response.field},
      {RPCURL_TEXT("response-value"), &stamp->response.value},
      {RPCURL_TEXT("response-prefix"), &stamp->response.prefix},
      {RPCURL_TEXT("response-suffix"), &stamp->response.suffix},
  };
  if (rpcurl_text_equal(key, RPCURL_TEXT("header"))) return configure_header(host, stamp, value);
  for (size_t index = 0; index < sizeof(keys) / sizeof(keys[0]); index++) {
    if (rpcurl_text_equal(key, keys[index].key)) return keep(host, keys[index].place, value);
  }
  return rpcurl_fail(host, "unknown key");
}

/* [main] Called after all keys were set: fills in the defaults. */
static int32_t ready(const rpcurl_host *host, void *plugin) {
  (void)host;
  struct stamp *stamp = plugin;
  if (stamp->header_name != NULL) return RPCURL_OK;
  return configure_header(host, stamp, RPCURL_TEXT("x-stamp:1"));
}

static void unload(const rpcurl_host *host, void *plugin) {
  (void)host;
  struct stamp *stamp = plugin;
  char *owned[] = {
      stamp->header_name,    stamp->header_value,    stamp->request.field,   stamp->request.value,
      stamp->request.prefix, stamp->request.suffix,  stamp->response.field,  stamp->response.value,
      stamp->response.prefix, stamp->response.suffix,
  };
  for (size_t index = 0; index < sizeof(owned) / sizeof(owned[0]); index++) free(owned[index]);
  free(stamp);
}

/* ---- Calls: one state for each --------------------------------------------------------------------------- */

/* [loop] This plugin has no data per call, so its state is the configuration. A plugin that counts or collects
 * would allocate here and free in close. */
static int32_t open_call(const rpcurl_host *host, void *plugin, rpcurl_call call, void **state) {
  (void)host, (void)call;
  *state = plugin;
  return RPCURL_OK;
}

/* [main] Only the required stages: if no interceptor needs typed messages, they are not built. */
static uint64_t possible_stages(const rpcurl_host *host, void *plugin) {
  (void)host;
  const struct stamp *stamp = plugin;
  uint64_t wanted = RPCURL_STAGE_REQUEST_START;
  if (stamp->request.field != NULL) wanted |= RPCURL_STAGE_REQUEST_MESSAGE;
  if (stamp->response.field != NULL) wanted |= RPCURL_STAGE_RESPONSE_MESSAGE;
  return wanted;
}

/* [loop] RPCURL_OK forwards the value; a negative code fails the call. Errors of the host are returned with its
 * reason. */
static int32_t request_start(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  const struct stamp *stamp = state;
  (void)call;
  return host->header_set(host, token, rpcurl_text_of(stamp->header_name), rpcurl_text_of(stamp->header_value));
}

static int32_t apply(const rpcurl_host *host, const struct change *change, rpcurl_token token) {
  rpcurl_text old;
  int32_t result = rpcurl_get_string(host, token, rpcurl_text_of(change->field), &old);
  /* The reason is that of the host: it names the configured field that does not match the message. */
  if (result < 0) return result;
  const rpcurl_text parts[] = {
      rpcurl_text_of(change->prefix), change->value == NULL ? old : rpcurl_text_of(change->value), rpcurl_text_of(change->suffix)};
  size_t size = parts[0].size + parts[1].size + parts[2].size;
  char *joined = malloc(size + 1);
  if (joined == NULL) return rpcurl_fail(host, "out of memory");
  size_t filled = 0;
  for (size_t index = 0; index < 3; index++) {
    if (parts[index].size > 0) memcpy(joined + filled, parts[index].data, parts[index].size);
    filled += parts[index].size;
  }
  rpcurl_text new = {joined, size};
  result = rpcurl_set_string(host, token, rpcurl_text_of(change->field), new);
  free(joined); /* the host has copied it */
  return result;
}

static int32_t request_message(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  const struct stamp *stamp = state;
  (void)host, (void)call;
  return apply(host, &stamp->request, token);
}

static int32_t response_message(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  const struct stamp *stamp = state;
  (void)host, (void)call;
  return apply(host, &stamp->response, token);
}

/* ---- The plugin's description ---------------------------------------------------------------------------- */

static const rpcurl_plugin plugin = {
    RPCURL_PLUGIN_HEAD,
    .flags = RPCURL_CHANGES_HEADERS | RPCURL_CHANGES_MESSAGES,
    .name = "stamp",
    .version = "1.0",
    .summary = "stamps calls: sets a header, and changes a field of the messages",
    .config_help =
        "header=NAME:VALUE        the header to set (x-stamp:1)\n"
        "request-field=PATH       string field of request messages to change\n"
        "request-value=TEXT       replaces the value\n"
        "request-prefix=TEXT      added before the value\n"
        "request-suffix=TEXT      added after the value\n"
        "response-field=PATH      the same for response messages\n"
        "response-value=TEXT\n"
        "response-prefix=TEXT\n"
        "response-suffix=TEXT",
    .load = load,
    .configure = configure,
    .ready = ready,
    .possible_stages = possible_stages,
    .unload = unload,
    .open = open_call,
    .request_start = request_start,
    .request_message = request_message,
    .response_message = response_message,
};

RPCURL_PLUGIN(plugin)
