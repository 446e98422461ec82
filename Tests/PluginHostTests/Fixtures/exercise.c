/* Uses every function of the host once with valid arguments, and some with invalid ones. */
#include "minimal.h"

#define CHECK(condition)                                                              \
  do {                                                                                \
    if (!(condition)) host->log(host, RPCURL_LOG_ERROR, RPCURL_TEXT("FAIL " #condition)); \
  } while (0)
#define T RPCURL_TEXT
#define IS(one, literal) rpcurl_text_equal(one, RPCURL_TEXT(literal))

static int32_t load(const rpcurl_host *given, void **plugin) {
  keep_host(given, plugin);
  CHECK(host->abi_major == RPCURL_ABI_MAJOR);
  CHECK(host->struct_size >= sizeof(rpcurl_host) && RPCURL_HOST_HAS(host, set_metrics));
  CHECK(strcmp(host->name, "rpcurl") == 0 && strcmp(host->version, "9.9") == 0);
  CHECK(host->get_extension(host, T("rpcurl.none")) == NULL);
  *plugin = strdup("plugin");
  return RPCURL_OK;
}

static int32_t open_call(const rpcurl_host *host, void *plugin, rpcurl_call call, void **state) {
  rpcurl_call_facts facts = {.struct_size = sizeof(facts)};
  struct { size_t struct_size; uint32_t kind, reserved; rpcurl_text behind; } small = {16, 9, 9, {"x", 1}};
  CHECK(strcmp(plugin, "plugin") == 0);
  CHECK(host->call_facts(host, call, &facts) == RPCURL_OK);
  CHECK(IS(facts.method, "test.Echo/Say") && IS(facts.protocol, "grpc") && IS(facts.codec, "proto"));
  CHECK(IS(facts.target, "http://server") && IS(facts.response_type, "google.protobuf.Value"));
  CHECK(facts.kind == RPCURL_KIND_UNARY && facts.attempt == 1 && facts.is_own_call == 0);
  CHECK(facts.idempotency == RPCURL_IDEMPOTENCY_UNKNOWN && facts.method_options.size == 0);
  /* A structure of an older, smaller header is filled up to its size. */
  CHECK(host->call_facts(host, call, (rpcurl_call_facts *)&small) == RPCURL_OK);
  CHECK(small.struct_size == 16 && small.reserved == 1 && small.kind == RPCURL_KIND_UNARY && IS(small.behind, "x"));
  rpcurl_text files;
  CHECK(host->schema(host, call, NULL) == RPCURL_EINVAL);
  CHECK(host->schema(host, call, &files) == RPCURL_OK && files.size > 0 && files.data[0] == 0x0a);
  *state = strdup("state");
  return RPCURL_OK;
}

static int32_t request_start(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  rpcurl_text value;
  rpcurl_field field;
  (void)call;
  CHECK(strcmp(state, "state") == 0);
  CHECK(host->header_count(host, token) == 2);
  CHECK(host->header_at(host, token, 1, &field) == RPCURL_OK && IS(field.name, "b") && IS(field.value, "2"));
  CHECK(host->header_at(host, token, 2, &field) == RPCURL_ENOENT);
  CHECK(host->header_first(host, token, T("A"), &value) == RPCURL_OK && IS(value, "1"));
  CHECK(host->header_first(host, token, T("c"), &value) == RPCURL_ENOENT);
  CHECK(IS(host->last_error(host), "no header c"));
  CHECK(host->header_set(host, token, T("a"), T("one")) == RPCURL_OK);
  CHECK(IS(value, "1")); /* unchanged */
  CHECK(host->header_add(host, token, T("C"), T("3")) == RPCURL_OK);
  CHECK(host->header_remove(host, token, T("b")) == 1);
  CHECK(host->header_remove(host, token, T("b")) == 0);
  rpcurl_start start = {.struct_size = sizeof(start)};
  CHECK(host->get_start(host, token, &start) == RPCURL_OK);
  CHECK(IS(start.target, "http://server") && start.timeout_ns == -1);
  CHECK(host->set_target(host, token, T("server:80")) == RPCURL_EINVAL);
  CHECK(host->set_target(host, token, T("https://")) == RPCURL_EINVAL);
  CHECK(host->set_target(host, token, T("https://a b")) == RPCURL_EINVAL);
  CHECK(host->set_target(host, token, T("http://host:notaport")) == RPCURL_EINVAL);
  CHECK(host->set_target(host, token, T("http://[::1")) == RPCURL_EINVAL);
  CHECK(host->set_target(host, token, T("http://u:secret@host")) == RPCURL_EINVAL);
  CHECK(IS(host->last_error(host), "\"http://\xe2\x80\xa6@host\" is not of the form http[s]://host[:port][/prefix]: "
                                   "credentials are not allowed in it"));
  CHECK(host->set_target(host, token, T("https://other:8443/prefix/")) == RPCURL_OK);
  CHECK(host->set_timeout(host, token, INT64_C(60000000000)) == RPCURL_OK);
  CHECK(host->get_start(host, token, &start) == RPCURL_OK && IS(start.target, "https://other:8443/prefix"));
  CHECK(start.timeout_ns > INT64_C(50000000000) && start.timeout_ns <= INT64_C(60000000000));
  CHECK(host->details_clear(host, token) == RPCURL_ESTAGE);
  char *memory = host->alloc(host, 10);
  CHECK(memory != NULL);
  host->free(host, memory);
  host->free(host, NULL);
  return RPCURL_OK;
}

/* The message is google.protobuf.Value: {"string_value": "Ada"}. */
static int32_t request_message(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  rpcurl_value value = {0};
  rpcurl_text got;
  (void)state, (void)call;
  CHECK(rpcurl_get_string(host, token, T("string_value"), &got) == RPCURL_OK && IS(got, "Ada"));
  CHECK(host->has(host, token, T("string_value")) == 1);
  CHECK(host->has(host, token, T("number_value")) == 0);
  CHECK(host->has(host, token, T("nonsense")) == RPCURL_EPATH);
  CHECK(host->get(host, token, T("a..b"), &value) == RPCURL_EPATH);
  CHECK(host->get_json(host, token, T(""), &got) == RPCURL_OK && IS(got, "\"Ada\""));
  CHECK(host->get_payload(host, token, &got) == RPCURL_ESTAGE);
  /* Each type of the oneof. */
  CHECK(host->get(host, token, T("number_value"), &value) == RPCURL_OK);
  CHECK(value.type == RPCURL_TYPE_DOUBLE && value.as.float64 == 0);
  value.as.float64 = 1.5;
  CHECK(host->set(host, token, T("number_value"), &value) == RPCURL_OK);
  CHECK(host->get_json(host, token, T(""), &got) == RPCURL_OK && IS(got, "1.5"));
  value.type = RPCURL_TYPE_BOOL;
  value.as.boolean = 1;
  CHECK(host->set(host, token, T("number_value"), &value) == RPCURL_ETYPE);
  CHECK(host->set(host, token, T("bool_value"), &value) == RPCURL_OK);
  CHECK(host->get(host, token, T("bool_value"), &value) == RPCURL_OK && value.as.boolean == 1);
  value.type = RPCURL_TYPE_ENUM;
  value.as.number = 0;
  CHECK(host->set(host, token, T("null_value"), &value) == RPCURL_OK);
  CHECK(host->get(host, token, T("null_value"), &value) == RPCURL_OK && value.type == RPCURL_TYPE_ENUM);
  value.type = 99;
  CHECK(host->set(host, token, T("null_value"), &value) == RPCURL_EINVAL);
  CHECK(host->get_enum(host, token, T("null_value"), &got) == RPCURL_OK && IS(got, "NULL_VALUE"));
  CHECK(host->set_enum(host, token, T("null_value"), T("NULL_VALUE")) == RPCURL_OK);
  CHECK(host->set_enum(host, token, T("null_value"), T("OTHER")) == RPCURL_ENOENT);
  CHECK(host->set_enum(host, token, T("bool_value"), T("NULL_VALUE")) == RPCURL_ETYPE);
  CHECK(host->which(host, token, T("kind"), &got) == RPCURL_OK && IS(got, "null_value"));
  CHECK(host->which(host, token, T("sort"), &got) == RPCURL_EPATH);
  /* Lists and maps. */
  CHECK(host->set_json(host, token, T("list_value"), T("[1, \"two\"]")) == RPCURL_OK);
  CHECK(host->append_json(host, token, T("list_value.values"), T("{\"c\": null, \"a\": 1, \"b\": 2}")) == RPCURL_OK);
  CHECK(host->append_json(host, token, T("list_value.values"), T("{oops")) == RPCURL_EPARSE);
  CHECK(host->append_json(host, token, T("list_value"), T("1")) == RPCURL_ETYPE);
  CHECK(host->length(host, token, T("list_value.values")) == 3);
  CHECK(host->key_at(host, token, T("list_value.values[2].struct_value.fields"), 1, &value) == RPCURL_OK);
  CHECK(value.type == RPCURL_TYPE_STRING && IS(value.as.text, "b"));
  CHECK(host->key_at(host, token, T("list_value.values[2].struct_value.fields"), 3, &value) == RPCURL_ENOENT);
  CHECK(host->key_at(host, token, T("list_value.values"), 0, &value) == RPCURL_ETYPE);
  CHECK(host->which(host, token, T("list_value.values[1].kind"), &got) == RPCURL_OK && IS(got, "string_value"));
  CHECK(host->which(host, token, T("struct_value.fields[\"x\"].kind"), &got) == RPCURL_ENOENT);
  CHECK(rpcurl_get_string(host, token, T("list_value.values[1].string_value"), &got) == RPCURL_OK);
  CHECK(IS(got, "two"));
  CHECK(host->get(host, token, T("list_value.values[7].string_value"), &value) == RPCURL_ENOENT);
  CHECK(host->get(host, token, T("list_value"), &value) == RPCURL_ETYPE);
  CHECK(host->get(host, token, T("list_value.values"), &value) == RPCURL_EPATH);
  CHECK(host->set_json(host, token, T(""), T("{\"name\": \"Ada\", \"gone\": 1}")) == RPCURL_OK);
  CHECK(host->clear(host, token, T("struct_value.fields[\"gone\"]")) == RPCURL_OK);
  CHECK(host->get_json(host, token, T("struct_value.fields[\"name\"]"), &got) == RPCURL_OK && IS(got, "\"Ada\""));
  CHECK(host->set_json(host, token, T(""), T("{oops")) == RPCURL_EPARSE);
  CHECK(host->set_payload(host, token, T("\xff\xff")) == RPCURL_EPARSE);
  CHECK(host->set_payload(host, token, T("\x1a\x05" "Grace")) == RPCURL_OK);
  CHECK(rpcurl_get_string(host, token, T("string_value"), &got) == RPCURL_OK && IS(got, "Grace"));
  CHECK(rpcurl_set_string(host, token, T("string_value"), T("raw")) == RPCURL_OK);
  CHECK(host->get_json(host, token, T(""), &got) == RPCURL_OK && IS(got, "\"raw\""));
  return RPCURL_OK;
}

static int32_t response_start(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  (void)state, (void)call;
  rpcurl_response_start response = {.struct_size = sizeof(response)};
  CHECK(host->get_response(host, token, &response) == RPCURL_OK && response.http_status == 200);
  CHECK(IS(response.http_version, "2") && IS(response.peer, "[::1]:80") && IS(response.tls_version, "TLSv1.3"));
  CHECK(host->header_add(host, token, T("x-seen"), T("yes")) == RPCURL_OK);
  return RPCURL_OK;
}

static int32_t response_end(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  rpcurl_status status = {.struct_size = sizeof(status)}, unset = {0};
  (void)state, (void)call;
  CHECK(host->get_status(host, token, &unset) == RPCURL_EINVAL);
  CHECK(host->get_status(host, token, &status) == RPCURL_OK);
  CHECK(status.code == 5 && IS(status.message, "gone") && status.origin == RPCURL_ORIGIN_SERVER);
  CHECK(host->set_status(host, token, 5, T("not here")) == RPCURL_OK);
  CHECK(host->header_set(host, token, T("x-trailer"), T("t")) == RPCURL_OK);
  const rpcurl_detail new_detail = {.struct_size = sizeof(new_detail), .type_name = T("google.rpc.RetryInfo"),
                                    .value = T("\x0a\x00")};
  CHECK(status.detail_count == 1);
  const rpcurl_detail detail = {.struct_size = sizeof(detail), .type_name = status.details->type_name,
                                .value = status.details->value};
  CHECK(IS(detail.type_name, "x") && IS(detail.value, "\x01"));
  CHECK(host->details_clear(host, token) == 1);
  CHECK(host->detail_add(host, token, NULL) == RPCURL_EINVAL);
  CHECK(host->detail_add(host, token, &new_detail) == RPCURL_OK);
  CHECK(host->detail_add(host, token, &detail) == RPCURL_OK);
  CHECK(host->get_status(host, token, &status) == RPCURL_OK && status.detail_count == 2);
  CHECK(IS(RPCURL_AT(status.details, 0)->type_name, "google.rpc.RetryInfo"));
  CHECK(IS(RPCURL_AT(status.details, 1)->type_name, "x"));
  CHECK(host->set_status(host, token, 0, T("")) == RPCURL_OK);
  CHECK(host->get_status(host, token, &status) == RPCURL_OK && status.detail_count == 0);
  CHECK(host->detail_add(host, token, &detail) == RPCURL_ENOENT);
  CHECK(host->set_status(host, token, 5, T("not here")) == RPCURL_OK);
  CHECK(host->detail_add(host, token, &new_detail) == RPCURL_OK);
  CHECK(host->get_status(host, token, &status) == RPCURL_OK && status.origin == RPCURL_ORIGIN_INTERCEPTOR);
  CHECK(IS(status.origin_name, "exercise"));
  return RPCURL_OK;
}

static int32_t metrics(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  rpcurl_metrics metrics = {.struct_size = sizeof(metrics)};
  (void)state, (void)call;
  CHECK(host->get_metrics(host, token, &metrics) == RPCURL_OK);
  CHECK(metrics.total_ns == 1500000 && metrics.connect_ns == -1 && metrics.sent_bytes == 7);
  CHECK(host->fail(host, token, 13, T("too late")) == RPCURL_ESTAGE);
  metrics.received_messages = 12;
  metrics.tls_ns = 3000;
  metrics.sent_message_bytes = 3;
  metrics.received_message_bytes = 4;
  metrics.resolve_ns = 1000;
  CHECK(host->set_metrics(host, token, &metrics) == RPCURL_OK);
  metrics.struct_size = offsetof(rpcurl_metrics, received_message_bytes);
  CHECK(host->set_metrics(host, token, &metrics) == RPCURL_EINVAL);
  metrics.struct_size = sizeof(metrics);
  metrics.total_ns = -1;
  CHECK(host->set_metrics(host, token, &metrics) == RPCURL_EINVAL);
  return RPCURL_OK;
}

static void close_call(const rpcurl_host *host, void *state, rpcurl_call call, const rpcurl_outcome *outcome) {
  rpcurl_call_facts facts = {.struct_size = sizeof(facts)};
  CHECK(host->call_facts(host, call, &facts) == RPCURL_OK);
  CHECK(outcome->status->code == 5 && IS(outcome->status->message, "not here"));
  CHECK(outcome->status->detail_count == 1 && outcome->trailer_count == 1);
  CHECK(IS(outcome->trailers[0].name, "x-trailer") && IS(outcome->trailers[0].value, "t"));
  CHECK(host->report(host, call, 9, T("unknown")) == RPCURL_EINVAL);
  CHECK(host->report(host, call, RPCURL_FINDING_FAILURE, T("found")) == RPCURL_OK);
  CHECK(outcome->metrics->sent_bytes == 7 && outcome->metrics->received_messages == 12);
  free(state);
  host->log(host, RPCURL_LOG_INFO, T("closed"));
}

static void unload(const rpcurl_host *host, void *plugin) {
  free(plugin);
  host->log(host, RPCURL_LOG_INFO, T("unloaded"));
}

static const rpcurl_plugin plugin = {
    RPCURL_PLUGIN_HEAD, .name = "exercise", .version = "2.1", .summary = "exercises the host",
    .config_help = "none", .load = load, .unload = unload, .open = open_call,
    .request_start = request_start, .request_message = request_message,
    .response_start = response_start, .response_end = response_end, .metrics = metrics,
    .close = close_call};
RPCURL_PLUGIN(plugin)
