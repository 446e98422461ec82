/*
 * sign: signs requests with HMAC-SHA256.
 *
 *     cc -shared -fPIC -fvisibility=hidden -o sign.so sign.c -lcrypto
 *     rpcurl --plugin ./sign.so,key=env:SIGNING_KEY,priority=-100 ...
 *
 * Each request gets three headers:
 *
 *     x-signature            hex(HMAC-SHA256(key, method LF timestamp LF body))
 *     x-signature-timestamp  seconds since 1970
 *     x-signature-scope      "body" or "method": the signed part
 *
 * The body is the serialized message, before compression and envelope. Headers are sent before the body, so the start of
 * the request is kept until request_end; messages go no further meanwhile:
 *
 *     one request message      The start waits for the message and the end. Scope "body".
 *     a stream, stream=method  (the default) Nothing waits, and messages are not signed. Scope "method": the body in the
 *                              formula is empty.
 *     a stream, stream=all     The same, for streams of up to 4 MiB. Scope "body": the messages, each after its length in
 *                              four bytes, big-endian.
 *     a stream, stream=refuse  The call fails.
 *
 * Put it last (priority=-100): it signs what it receives, so interceptors after it must not change the messages.
 */
#include <rpcurl/plugin.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum stream { STREAM_METHOD, STREAM_ALL, STREAM_REFUSE };
/* Of a call with one message, the host keeps up to 64 MiB; of a stream, its own window. */
enum { DIGEST_BYTES = 32, MESSAGE_WINDOW_BYTES = 64 << 20 };

struct sign {
  EVP_MAC *hmac;
  char *key;
  size_t key_size;
  enum stream stream;
};

/* One call. */
struct state {
  struct sign *sign;
  EVP_MAC_CTX *digest;
  rpcurl_token start; /* kept until the signature is computed; 0 otherwise */
  int is_stream;      /* messages are preceded by their lengths */
  char timestamp[24];
};

/* ---- Configuration ---------------------------------------------------------------------------------------- */

static int32_t load(const rpcurl_host *host, void **plugin) {
  struct sign *sign = calloc(1, sizeof(*sign));
  if (sign == NULL) return rpcurl_fail(host, "out of memory");
  sign->hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
  *plugin = sign;
  return sign->hmac == NULL ? rpcurl_fail(host, "libcrypto has no HMAC") : RPCURL_OK;
}

static int32_t configure(const rpcurl_host *host, void *plugin, rpcurl_text key, rpcurl_text value) {
  struct sign *sign = plugin;
  if (rpcurl_text_equal(key, RPCURL_TEXT("key"))) {
    free(sign->key);
    sign->key = malloc(value.size + 1);
    if (sign->key == NULL) return rpcurl_fail(host, "out of memory");
    if (value.size > 0) memcpy(sign->key, value.data, value.size);
    sign->key_size = value.size;
  } else if (rpcurl_text_equal(key, RPCURL_TEXT("stream"))) {
    if (rpcurl_text_equal(value, RPCURL_TEXT("method"))) sign->stream = STREAM_METHOD;
    else if (rpcurl_text_equal(value, RPCURL_TEXT("all"))) sign->stream = STREAM_ALL;
    else if (rpcurl_text_equal(value, RPCURL_TEXT("refuse"))) sign->stream = STREAM_REFUSE;
    else return rpcurl_fail(host, "is not one of method, all, refuse");
  } else {
    return rpcurl_fail(host, "unknown key");
  }
  return RPCURL_OK;
}

/* A signature with an empty key would be worthless. */
static int32_t ready(const rpcurl_host *host, void *plugin) {
  const struct sign *sign = plugin;
  if (sign->key_size == 0) return rpcurl_fail(host, "requires key=env:NAME, the key to sign with");
  return RPCURL_OK;
}

static void unload(const rpcurl_host *host, void *plugin) {
  (void)host;
  struct sign *sign = plugin;
  if (sign->key != NULL) OPENSSL_cleanse(sign->key, sign->key_size);
  free(sign->key);
  EVP_MAC_free(sign->hmac);
  free(sign);
}

/* ---- The digest ------------------------------------------------------------------------------------------- */

static int begin(struct state *state) {
  char name[] = "SHA256";
  const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string("digest", name, 0), OSSL_PARAM_construct_end()};
  const unsigned char *key = (const unsigned char *)state->sign->key;
  state->digest = EVP_MAC_CTX_new(state->sign->hmac);
  return state->digest != NULL && EVP_MAC_init(state->digest, key, state->sign->key_size, parameters);
}

static int add(struct state *state, const void *bytes, size_t size) {
  return size == 0 || EVP_MAC_update(state->digest, bytes, size);
}

/* ---- Calls ------------------------------------------------------------------------------------------------ */

static void close_call(const rpcurl_host *host, void *plugin_state, rpcurl_call call, const rpcurl_outcome *outcome) {
  struct state *state = plugin_state;
  (void)host, (void)call, (void)outcome;
  EVP_MAC_CTX_free(state->digest);
  free(state);
}

static int32_t open_call(const rpcurl_host *host, void *plugin, rpcurl_call call, void **result) {
  struct sign *sign = plugin;
  rpcurl_call_facts facts = {.struct_size = sizeof(facts)};
  int32_t found = host->call_facts(host, call, &facts);
  if (found < 0) return found;
  int is_stream = facts.kind == RPCURL_KIND_CLIENT_STREAMING || facts.kind == RPCURL_KIND_BIDI_STREAMING;
  if (is_stream && sign->stream == STREAM_REFUSE) return rpcurl_fail(host, "streams cannot be signed");
  struct state *state = calloc(1, sizeof(*state));
  if (state == NULL) return rpcurl_fail(host, "out of memory");
  state->sign = sign;
  state->is_stream = is_stream;
  snprintf(state->timestamp, sizeof(state->timestamp), "%lld", (long long)time(NULL));
  if (!begin(state) || !add(state, facts.method.data, facts.method.size) || !add(state, "\n", 1) ||
      !add(state, state->timestamp, strlen(state->timestamp)) || !add(state, "\n", 1)) {
    close_call(host, state, call, NULL);
    return rpcurl_fail(host, "libcrypto failed");
  }
  *result = state;
  return RPCURL_OK;
}

static int needs_body(const struct state *state) { return !state->is_stream || state->sign->stream == STREAM_ALL; }

static uint64_t stages(const rpcurl_host *host, void *plugin_state) {
  (void)host;
  const struct state *state = plugin_state;
  if (!needs_body(state)) return RPCURL_STAGE_REQUEST_START;
  return RPCURL_STAGE_REQUEST_START | RPCURL_STAGE_REQUEST_MESSAGE | RPCURL_STAGE_REQUEST_END;
}

static int32_t needs(const rpcurl_host *host, void *plugin_state, rpcurl_needs *needs) {
  (void)host;
  const struct state *state = plugin_state;
  if (!needs_body(state)) return RPCURL_OK;
  needs->collects = 1;
  if (!state->is_stream) needs->window_bytes = MESSAGE_WINDOW_BYTES;
  return RPCURL_OK;
}

/* Sets the signature in the request's headers. */
static int32_t stamp(const rpcurl_host *host, struct state *state, rpcurl_token start) {
  unsigned char digest[DIGEST_BYTES];
  char hex[2 * DIGEST_BYTES + 1];
  size_t size = 0;
  if (!EVP_MAC_final(state->digest, digest, &size, sizeof(digest)) || size != sizeof(digest)) {
    return rpcurl_fail(host, "libcrypto failed");
  }
  for (size_t index = 0; index < size; index++) snprintf(hex + 2 * index, 3, "%02x", digest[index]);
  const struct {
    rpcurl_text name, value;
  } headers[] = {
      {RPCURL_TEXT("x-signature"), {hex, 2 * size}},
      {RPCURL_TEXT("x-signature-timestamp"), {state->timestamp, strlen(state->timestamp)}},
      {RPCURL_TEXT("x-signature-scope"), needs_body(state) ? RPCURL_TEXT("body") : RPCURL_TEXT("method")},
  };
  for (size_t index = 0; index < sizeof(headers) / sizeof(headers[0]); index++) {
    int32_t result = host->header_set(host, start, headers[index].name, headers[index].value);
    if (result < 0) return result;
  }
  return RPCURL_OK;
}

static int32_t request_start(const rpcurl_host *host, void *plugin_state, rpcurl_call call, rpcurl_token token) {
  struct state *state = plugin_state;
  (void)host, (void)call;
  if (!needs_body(state)) return stamp(host, state, token);
  state->start = token;
  return RPCURL_LATER;
}

static int32_t request_message(const rpcurl_host *host, void *plugin_state, rpcurl_call call, rpcurl_token token) {
  struct state *state = plugin_state;
  rpcurl_text bytes;
  (void)call;
  int32_t result = host->get_payload(host, token, &bytes);
  if (result < 0) return result;
  if (state->is_stream) {
    const unsigned char length[] = {(unsigned char)(bytes.size >> 24), (unsigned char)(bytes.size >> 16),
                                    (unsigned char)(bytes.size >> 8), (unsigned char)bytes.size};
    if (!add(state, length, sizeof(length))) return rpcurl_fail(host, "libcrypto failed");
  }
  return add(state, bytes.data, bytes.size) ? RPCURL_OK : rpcurl_fail(host, "libcrypto failed");
}

/* The body is complete: forwards the start, and the messages that wait for it. The body of a request without a message is
 * empty. */
static int32_t request_end(const rpcurl_host *host, void *plugin_state, rpcurl_call call, rpcurl_token token) {
  struct state *state = plugin_state;
  (void)call, (void)token;
  int32_t result = stamp(host, state, state->start);
  return result < 0 ? result : host->proceed(host, state->start);
}

static const rpcurl_plugin plugin = {
    RPCURL_PLUGIN_HEAD,
    .flags = RPCURL_MUST_SEE_ALL | RPCURL_READS_MESSAGES | RPCURL_CHANGES_HEADERS,
    .request_messages = RPCURL_MESSAGES_READ_BYTES,
    .response_messages = RPCURL_MESSAGES_NONE,
    .name = "sign",
    .version = "1.0",
    .summary = "signs requests with HMAC-SHA256 over method, time and body",
    .config_help =
        "key=env:NAME    the key, from the environment, or @FILE\n"
        "stream=HOW      request streams: method (sign only the method), all (wait for the end), refuse (method)",
    .load = load,
    .configure = configure,
    .ready = ready,
    .unload = unload,
    .open = open_call,
    .stages = stages,
    .request_start = request_start,
    .request_message = request_message,
    .request_end = request_end,
    .close = close_call,
    .needs = needs,
};

RPCURL_PLUGIN(plugin)
