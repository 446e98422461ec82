/* Attributes, facts, the method and messages of the plugin, depending on the method's name. */
#include <rpcurl/plugin.h>

#define T RPCURL_TEXT
#define S(text) (int)(text).size, (text).data
#define INFO host, RPCURL_LOG_INFO

static rpcurl_token start, message;

static void log_result(const rpcurl_host *host, const char *what, int32_t result) {
  rpcurl_text reason = host->last_error(host);
  if (result < 0) rpcurl_log(INFO, "%s: %d %.*s", what, (int)result, S(reason));
  else rpcurl_log(INFO, "%s: %d", what, (int)result);
}

static int is_method(const rpcurl_host *host, rpcurl_call call, rpcurl_text name) {
  rpcurl_call_facts facts = {.struct_size = sizeof(facts)};
  host->call_facts(host, call, &facts);
  return facts.method.size >= name.size &&
         memcmp(facts.method.data + facts.method.size - name.size, name.data, name.size) == 0;
}

static void log_facts(const rpcurl_host *host, rpcurl_call call) {
  rpcurl_call_facts facts = {.struct_size = sizeof(facts)};
  log_result(host, "call_facts", host->call_facts(host, call, &facts));
  rpcurl_log(INFO, "\"%.*s\" %.*s %.*s, %s, %zu headers, %.*s: %.*s", S(facts.compression), S(facts.content_type),
             S(facts.host), facts.timeout_ns < 0 ? "no limit" : facts.timeout_ns > 0 ? "limit" : "over",
             facts.header_count, S(facts.headers[0].name), S(facts.headers[0].value));
}

static int32_t open_call(const rpcurl_host *host, void *plugin, rpcurl_call call, void **state) {
  char many[4097];
  rpcurl_text value = {NULL, 0};
  (void)plugin, (void)state;
  if (is_method(host, call, T("/Facts"))) log_facts(host, call);
  if (!is_method(host, call, T("/Attributes"))) return RPCURL_OK;
  memset(many, 'x', sizeof(many));
  log_result(host, "get", host->attribute_get(host, call, T("tenant"), &value));
  log_result(host, "set", host->attribute_set(host, call, T("tenant"), T("blue")));
  log_result(host, "get", host->attribute_get(host, call, T("tenant"), &value));
  rpcurl_log(INFO, "%.*s", S(value));
  log_result(host, "key", host->attribute_set(host, call, T("a b"), T("")));
  value.data = many;
  value.size = sizeof(many);
  log_result(host, "long", host->attribute_set(host, call, T("long"), value));
  log_result(host, "remove", host->attribute_remove(host, call, T("tenant")));
  log_result(host, "remove again", host->attribute_remove(host, call, T("tenant")));
  for (int index = 0; index < 65; index++) {
    int32_t result;
    value.size = (size_t)index + 1;
    result = host->attribute_set(host, call, value, T("1"));
    if (result < 0) log_result(host, "many", result);
  }
  return RPCURL_OK;
}

static void done(const rpcurl_host *host, void *argument, const rpcurl_own_response *response) {
  rpcurl_text text = {NULL, 0};
  (void)argument;
  rpcurl_local_message local = rpcurl_local_message_of(response->fields);
  log_result(host, "read", rpcurl_get_string(host, response->fields, T("name"), &text));
  log_result(host, "inject own", host->inject_request(host, *(rpcurl_call *)argument, &local));
}

static void build(const rpcurl_host *host, rpcurl_call call, rpcurl_token token) {
  static rpcurl_call kept;
  rpcurl_local_message local;
  rpcurl_own_call own = {.struct_size = sizeof(own), .method = T("shop.Shop/Facts"), .message = &local};
  rpcurl_response response = {.struct_size = sizeof(response), .messages = &local, .message_count = 1};
  rpcurl_text json;
  rpcurl_token other;
  kept = call;
  log_result(host, "no type", host->message_new(host, call, T("shop.None"), &message));
  log_result(host, "no method", host->message_new(host, call, T("shop.Shop/None"), &message));
  log_result(host, "type", host->message_new(host, call, T("shop.Other"), &other));
  log_result(host, "method", rpcurl_message_new(host, call, T("shop.Shop/Facts"), &local));
  message = local.message;
  log_result(host, "set", rpcurl_set_string(host, message, T("name"), T("Ada")));
  log_result(host, "set_json", host->set_json(host, message, T("tags"), T("[\"a\", \"b\"]")));
  log_result(host, "get_json", host->get_json(host, message, T(""), &json));
  rpcurl_log(INFO, "%.*s", S(json));
  log_result(host, "proceed", host->proceed(host, message));
  log_result(host, "header_count", (int32_t)host->header_count(host, message));
  log_result(host, "call", host->call(host, call, &own, done, &kept));
  log_result(host, "inject", host->inject_request(host, call, &local));
  log_result(host, "set", rpcurl_set_string(host, message, T("name"), T("Bob")));
  log_result(host, "inject", host->inject_request(host, call, &local));
  local.message = other;
  log_result(host, "other type", host->inject_request(host, call, &local));
  log_result(host, "other response", host->respond(host, token, &response));
  log_result(host, "free a token", host->message_free(host, token));
  log_result(host, "free", host->message_free(host, other));
  log_result(host, "freed", host->clear(host, other, T("")));
}

static int32_t request_start(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  rpcurl_text value = {NULL, 0};
  (void)state;
  start = token;
  if (is_method(host, call, T("/Facts"))) {
    host->header_set(host, token, T("a"), T("changed"));
    host->set_target(host, token, T("https://other:8443"));
    log_facts(host, call);
    log_result(host, "content-type", host->header_first(host, token, T("Content-Type"), &value));
    rpcurl_log(INFO, "%.*s", S(value));
    log_result(host, "host", host->header_first(host, token, T("host"), &value));
    rpcurl_log(INFO, "%.*s", S(value));
  }
  if (is_method(host, call, T("/Route"))) return RPCURL_LATER;
  if (is_method(host, call, T("/Build"))) build(host, call, token);
  return RPCURL_OK;
}

static int32_t request_message(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  rpcurl_text name;
  (void)state;
  if (!is_method(host, call, T("/Route")) || start.id == 0) return RPCURL_OK;
  int32_t result = rpcurl_get_string(host, token, T("name"), &name);
  rpcurl_start now = {.struct_size = sizeof(now)};
  if (result < 0) return result;
  log_result(host, "no name", host->set_method(host, start, T("Facts")));
  log_result(host, "at a message", host->set_method(host, token, name));
  log_result(host, "set_method", host->set_method(host, start, name));
  log_result(host, "get_start", host->get_start(host, start, &now));
  rpcurl_log(INFO, "%.*s", S(now.method));
  log_result(host, "proceed", host->proceed(host, start));
  start.id = 0;
  return RPCURL_OK;
}

static void close_call(const rpcurl_host *host, void *state, rpcurl_call call, const rpcurl_outcome *outcome) {
  rpcurl_text value;
  (void)state, (void)outcome;
  if (is_method(host, call, T("/Attributes"))) {
    log_result(host, "closed", host->attribute_get(host, call, T("x"), &value));
  }
}

RPCURL_DEFINE_PLUGIN(.name = "context", .open = open_call, .request_start = request_start,
                     .request_message = request_message, .close = close_call)
