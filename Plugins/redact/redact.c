/*
 * redact: hides fields of messages, in both directions.
 *
 *     cc -shared -fPIC -fvisibility=hidden -o redact.so redact.c redact.pb-c.c -lprotobuf-c
 *     rpcurl --plugin ./redact.so,field=user.email,field=items[*].secret ...
 *     rpcurl --plugin ./redact.so,rules=rules.binpb ...
 *
 * The rules are a protobuf message, redact.v1.Rules (redact.proto), read by libprotobuf-c. rpcurl converts them from
 * JSON:
 *
 *     protoc --descriptor_set_out redact.binpb redact.proto
 *     echo '{"rules": [{"fields": ["user.email"], "direction": "RESPONSE"}]}' |
 *       rpcurl convert --descriptor-set redact.binpb --type redact.v1.Rules --from json --to binary > rules.binpb
 *
 * A path may contain [*] for every element of a list and every value of a map. A string is replaced, any other value is
 * cleared. Interceptors before this plugin on the request path, and after it on the response path, do not see hidden
 * values: put it first to hide responses from the caller, last to hide requests only from the server.
 */
#include <rpcurl/plugin.h>

#include <protobuf-c/protobuf-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redact.pb-c.h"

enum { LARGEST_FILE_BYTES = 1 << 20 };

/* A field of a rule. */
struct target {
  char *path;
  char *replacement;
  char *message_type; /* empty: any */
  uint64_t stages;    /* RPCURL_STAGE_REQUEST_MESSAGE, RPCURL_STAGE_RESPONSE_MESSAGE or both */
};

struct redact {
  struct target *targets;
  size_t count;
  char *replacement; /* for the fields given by key; null: the default */
};

/* One call. */
struct state {
  const struct redact *redact;
  rpcurl_call_facts facts;
  int has_seen_message;
  char *has_fitted; /* for each target: whether a message had the path */
};

static char *copy(rpcurl_text from) {
  char *result = malloc(from.size + 1);
  if (result == NULL) return NULL;
  if (from.size > 0) memcpy(result, from.data, from.size);
  result[from.size] = 0;
  return result;
}

/* ---- Configuration ---------------------------------------------------------------------------------------- */

static int32_t add_target(const rpcurl_host *host, struct redact *redact, rpcurl_text path, const char *message_type,
                          const char *replacement, uint64_t stages) {
  struct target *grown = realloc(redact->targets, (redact->count + 1) * sizeof(*grown));
  if (grown == NULL) return rpcurl_fail(host, "out of memory");
  redact->targets = grown;
  struct target target = {copy(path), copy(rpcurl_text_of(replacement)), copy(rpcurl_text_of(message_type)), stages};
  redact->targets[redact->count++] = target;
  if (target.path == NULL || target.replacement == NULL || target.message_type == NULL) {
    return rpcurl_fail(host, "out of memory");
  }
  return target.path[0] == 0 ? rpcurl_fail(host, "a field path is empty") : RPCURL_OK;
}

static int32_t add_rule(const rpcurl_host *host, struct redact *redact, const Redact__V1__Rule *rule) {
  const uint64_t both = RPCURL_STAGE_REQUEST_MESSAGE | RPCURL_STAGE_RESPONSE_MESSAGE;
  uint64_t stages = rule->direction == REDACT__V1__RULE__DIRECTION__REQUEST    ? RPCURL_STAGE_REQUEST_MESSAGE
                    : rule->direction == REDACT__V1__RULE__DIRECTION__RESPONSE ? RPCURL_STAGE_RESPONSE_MESSAGE
                                                                               : both;
  for (size_t index = 0; index < rule->n_fields; index++) {
    int32_t result =
        add_target(host, redact, rpcurl_text_of(rule->fields[index]), rule->message_type, rule->replacement, stages);
    if (result < 0) return result;
  }
  return RPCURL_OK;
}

static int32_t add_rules(const rpcurl_host *host, struct redact *redact, const uint8_t *bytes, size_t size) {
  Redact__V1__Rules *rules = redact__v1__rules__unpack(NULL, size, bytes);
  if (rules == NULL) return rpcurl_fail(host, "is not a serialized redact.v1.Rules");
  int32_t result = RPCURL_OK;
  for (size_t index = 0; result == RPCURL_OK && index < rules->n_rules; index++) {
    result = add_rule(host, redact, rules->rules[index]);
  }
  redact__v1__rules__free_unpacked(rules, NULL);
  return result;
}

static int32_t read_rules(const rpcurl_host *host, struct redact *redact, rpcurl_text path) {
  char *name = copy(path);
  uint8_t *bytes = malloc(LARGEST_FILE_BYTES + 1);
  FILE *file = name == NULL ? NULL : fopen(name, "rb");
  int32_t result;
  free(name);
  if (bytes == NULL) {
    result = rpcurl_fail(host, "out of memory");
  } else if (file == NULL) {
    result = rpcurl_fail(host, "cannot open the file");
  } else {
    size_t size = fread(bytes, 1, LARGEST_FILE_BYTES + 1, file);
    if (ferror(file)) result = rpcurl_fail(host, "cannot read the file");
    else if (size > LARGEST_FILE_BYTES) result = rpcurl_fail(host, "the file is longer than 1 MiB");
    else result = add_rules(host, redact, bytes, size);
  }
  if (file != NULL) fclose(file);
  free(bytes);
  return result;
}

static int32_t load(const rpcurl_host *host, void **plugin) {
  struct redact *redact = calloc(1, sizeof(*redact));
  if (redact == NULL) return rpcurl_fail(host, "out of memory");
  *plugin = redact;
  return RPCURL_OK;
}

static int32_t configure(const rpcurl_host *host, void *plugin, rpcurl_text key, rpcurl_text value) {
  struct redact *redact = plugin;
  if (rpcurl_text_equal(key, RPCURL_TEXT("rules"))) return read_rules(host, redact, value);
  if (rpcurl_text_equal(key, RPCURL_TEXT("replacement"))) {
    free(redact->replacement);
    redact->replacement = copy(value);
    return redact->replacement == NULL ? rpcurl_fail(host, "out of memory") : RPCURL_OK;
  }
  if (rpcurl_text_equal(key, RPCURL_TEXT("field"))) {
    const char *replacement = redact->replacement == NULL ? "" : redact->replacement;
    return add_target(host, redact, value, "", replacement,
                      RPCURL_STAGE_REQUEST_MESSAGE | RPCURL_STAGE_RESPONSE_MESSAGE);
  }
  return rpcurl_fail(host, "unknown key");
}

/* Without a rule everything would pass unnoticed. */
static int32_t ready(const rpcurl_host *host, void *plugin) {
  const struct redact *redact = plugin;
  return redact->count == 0 ? rpcurl_fail(host, "requires field=PATH or rules=FILE") : RPCURL_OK;
}

static void unload(const rpcurl_host *host, void *plugin) {
  (void)host;
  struct redact *redact = plugin;
  for (size_t index = 0; index < redact->count; index++) {
    free(redact->targets[index].path);
    free(redact->targets[index].replacement);
    free(redact->targets[index].message_type);
  }
  free(redact->targets);
  free(redact->replacement);
  free(redact);
}

/* ---- Hiding ----------------------------------------------------------------------------------------------- */

static int32_t hide(const rpcurl_host *host, rpcurl_token token, const char *path, const char *replacement);

static int32_t hide_value(const rpcurl_host *host, rpcurl_token token, const char *path, const char *replacement) {
  rpcurl_value value;
  int32_t is_set = host->has(host, token, rpcurl_text_of(path));
  if (is_set <= 0) return is_set;
  if (host->get(host, token, rpcurl_text_of(path), &value) == RPCURL_OK && value.type == RPCURL_TYPE_STRING) {
    const char *shown = replacement[0] == 0 ? "[redacted]" : replacement;
    return rpcurl_set_string(host, token, rpcurl_text_of(path), rpcurl_text_of(shown));
  }
  return host->clear(host, token, rpcurl_text_of(path));
}

/* Writes a map's key as it is written in a path; returns its size. */
static size_t write_key(const rpcurl_value *key, char *place) {
  size_t size = 0;
  if (key->type == RPCURL_TYPE_BOOL) return (size_t)sprintf(place, "%s", key->as.boolean ? "true" : "false");
  if (key->type == RPCURL_TYPE_INT64) return (size_t)sprintf(place, "%lld", (long long)key->as.int64);
  if (key->type == RPCURL_TYPE_UINT64) return (size_t)sprintf(place, "%llu", (unsigned long long)key->as.uint64);
  place[size++] = '"';
  for (size_t index = 0; index < key->as.text.size; index++) {
    unsigned char byte = (unsigned char)key->as.text.data[index];
    if (byte < 0x20 || byte == '"' || byte == '\\') size += (size_t)sprintf(place + size, "\\u%04x", byte);
    else place[size++] = (char)byte;
  }
  place[size++] = '"';
  return size;
}

/* `path` with the [*] at `star` replaced by a key or an index; the caller frees it. */
static char *with_element(const char *path, const char *star, const rpcurl_value *key, size_t index) {
  size_t most_key_bytes = key == NULL ? 24 : 32 + 6 * (key->type == RPCURL_TYPE_STRING ? key->as.text.size : 0);
  char *result = malloc(strlen(path) + most_key_bytes);
  if (result == NULL) return NULL;
  size_t size = (size_t)(star - path);
  memcpy(result, path, size);
  result[size++] = '[';
  size += key == NULL ? (size_t)sprintf(result + size, "%zu", index) : write_key(key, result + size);
  strcpy(result + size, star + 2);
  return result;
}

/* The first [*] of a path; null if it is absent. Keys in quotes may contain the same characters. */
static const char *find_star(const char *path) {
  int is_quoted = 0;
  for (; path[0] != 0; path++) {
    if (path[0] == '"') is_quoted = !is_quoted;
    else if (is_quoted && path[0] == '\\' && path[1] != 0) path++;
    else if (!is_quoted && strncmp(path, "[*]", 3) == 0) return path;
  }
  return NULL;
}

/* Hides the value of a path; [*] is every element. */
static int32_t hide(const rpcurl_host *host, rpcurl_token token, const char *path, const char *replacement) {
  const char *star = find_star(path);
  if (star == NULL) return hide_value(host, token, path, replacement);
  rpcurl_text list = {path, (size_t)(star - path)};
  int64_t length = host->length(host, token, list);
  if (length < 0) return (int32_t)length;
  /* From the last to the first, because removing an element moves those after it. */
  for (int64_t index = length - 1; index >= 0; index--) {
    rpcurl_value key;
    int32_t result = host->key_at(host, token, list, (size_t)index, &key);
    if (result < 0 && result != RPCURL_ETYPE) return result;
    char *element = with_element(path, star, result == RPCURL_OK ? &key : NULL, (size_t)index);
    if (element == NULL) return rpcurl_fail(host, "out of memory");
    result = hide(host, token, element, replacement);
    free(element);
    if (result < 0) return result;
  }
  return RPCURL_OK;
}

/* ---- Calls ------------------------------------------------------------------------------------------------ */

static int32_t open_call(const rpcurl_host *host, void *plugin, rpcurl_call call, void **result) {
  const struct redact *redact = plugin;
  struct state *state = calloc(1, sizeof(*state));
  char *has_fitted = calloc(redact->count, 1);
  int32_t code = RPCURL_OK;
  if (state == NULL || has_fitted == NULL) {
    code = rpcurl_fail(host, "out of memory");
  } else {
    state->redact = redact;
    state->has_fitted = has_fitted;
    state->facts.struct_size = sizeof(state->facts);
    code = host->call_facts(host, call, &state->facts);
  }
  if (code == RPCURL_OK) {
    *result = state;
  } else {
    free(state);
    free(has_fitted);
  }
  return code;
}

static uint64_t possible_stages(const rpcurl_host *host, void *plugin) {
  (void)host;
  const struct redact *redact = plugin;
  uint64_t wanted = 0;
  for (size_t index = 0; index < redact->count; index++) wanted |= redact->targets[index].stages;
  return wanted;
}

static int32_t apply(const rpcurl_host *host, struct state *state, rpcurl_token token, uint64_t stage,
                     rpcurl_text message_type) {
  const struct redact *redact = state->redact;
  state->has_seen_message = 1;
  for (size_t index = 0; index < redact->count; index++) {
    const struct target *target = &redact->targets[index];
    int is_any = target->message_type[0] == 0;
    if ((target->stages & stage) == 0) continue;
    if (!is_any && !rpcurl_text_equal(rpcurl_text_of(target->message_type), message_type)) continue;
    int32_t result = hide(host, token, target->path, target->replacement);
    if (result >= 0) {
      state->has_fitted[index] = 1;
    } else if (result != RPCURL_EPATH || !is_any) {
      /* A value that cannot be hidden is not forwarded; the reason is that of the host. */
      return result;
    }
  }
  return RPCURL_OK;
}

static int32_t request_message(const rpcurl_host *host, void *plugin_state, rpcurl_call call, rpcurl_token token) {
  struct state *state = plugin_state;
  (void)call;
  return apply(host, state, token, RPCURL_STAGE_REQUEST_MESSAGE, state->facts.request_type);
}

static int32_t response_message(const rpcurl_host *host, void *plugin_state, rpcurl_call call, rpcurl_token token) {
  struct state *state = plugin_state;
  (void)call;
  return apply(host, state, token, RPCURL_STAGE_RESPONSE_MESSAGE, state->facts.response_type);
}

/* A path that no message had may be a typing error. */
static void close_call(const rpcurl_host *host, void *plugin_state, rpcurl_call call, const rpcurl_outcome *outcome) {
  struct state *state = plugin_state;
  const struct redact *redact = state->redact;
  (void)call, (void)outcome;
  for (size_t index = 0; state->has_seen_message && index < redact->count; index++) {
    if (state->has_fitted[index] || redact->targets[index].message_type[0] != 0) continue;
    rpcurl_log(host, RPCURL_LOG_WARNING, "no message of the call has a field %s", redact->targets[index].path);
  }
  free(state->has_fitted);
  free(state);
}

static const rpcurl_plugin plugin = {
    RPCURL_PLUGIN_HEAD,
    .flags = RPCURL_MUST_SEE_ALL | RPCURL_REDACTS | RPCURL_CHANGES_MESSAGES,
    .name = "redact",
    .version = "1.0",
    .summary = "hides fields of request and response messages",
    .config_help =
        "field=PATH          field to hide, in both directions; [*] is every element; may repeat\n"
        "replacement=TEXT    replacement of strings in the following fields ([redacted])\n"
        "rules=FILE          rules, a serialized redact.v1.Rules; may repeat",
    .load = load,
    .configure = configure,
    .ready = ready,
    .possible_stages = possible_stages,
    .unload = unload,
    .open = open_call,
    .request_message = request_message,
    .response_message = response_message,
    .close = close_call,
};

RPCURL_PLUGIN(plugin)
