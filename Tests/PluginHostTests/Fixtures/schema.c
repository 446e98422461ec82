/* Logs the schema of the call shop.Shop/Buy, and the fields of its messages. */
#include <rpcurl/plugin.h>

#define INFO host, RPCURL_LOG_INFO
#define S(text) (int)(text).size, (text).data

static int32_t open_call(const rpcurl_host *host, void *plugin, rpcurl_call call, void **state) {
  rpcurl_call_facts facts = {.struct_size = sizeof(facts)};
  const rpcurl_message_type *type, *same;
  const rpcurl_enum_type *values;
  const rpcurl_service_type *service;
  (void)plugin, (void)state;
  if (host->call_facts(host, call, &facts) < 0) return RPCURL_EFAILED;
  rpcurl_log(INFO, "facts: %u with %zu bytes of options", facts.idempotency, facts.method_options.size);
  if (host->message_type(host, call, facts.request_type, &type) < 0) return RPCURL_EFAILED;
  rpcurl_log(INFO, "%.*s: %zu bytes of options", S(type->name), type->options.size);
  for (size_t index = 0; index < type->field_count; index++) {
    const rpcurl_field_type *field = RPCURL_AT(type->fields, index);
    rpcurl_log(INFO, "%u %.*s/%.*s: %u, %u, %u (%.*s) in (%.*s) %zu", field->number, S(field->name), S(field->json_name),
               field->kind, field->key_kind, field->properties, S(field->type_name), S(field->oneof),
               field->options.size);
  }
  if (host->enum_type(host, call, RPCURL_TEXT("shop.State"), &values) < 0) return RPCURL_EFAILED;
  const rpcurl_enum_value *none = RPCURL_AT(values->values, 0), *paid = RPCURL_AT(values->values, 1);
  rpcurl_log(INFO, "%.*s: %.*s=%d %.*s=%d", S(values->name), S(none->name), (int)none->number, S(paid->name),
             (int)paid->number);
  if (host->service_type(host, call, RPCURL_TEXT("shop.Shop"), &service) < 0) return RPCURL_EFAILED;
  const rpcurl_method_type *method = RPCURL_AT(service->methods, 0);
  rpcurl_log(INFO, "%.*s: %.*s %u %u %.*s %.*s %zu", S(service->name), S(method->name), method->kind,
             method->idempotency, S(method->request_type), S(method->response_type), method->options.size);
  int32_t result = host->message_type(host, call, RPCURL_TEXT("shop.None"), &same);
  rpcurl_log(INFO, "none: %d %.*s", (int)result, S(host->last_error(host)));
  rpcurl_log(INFO, "no text: %d", (int)host->message_type(host, call, RPCURL_TEXT("\xff"), &same));
  rpcurl_text files, again;
  if (host->schema(host, call, &files) < 0 || host->schema(host, call, &again) < 0) return RPCURL_EFAILED;
  uint32_t sum = 0;
  for (size_t index = 0; index < files.size; index++) sum = sum * 31 + (unsigned char)files.data[index];
  rpcurl_log(INFO, "files: %zu bytes, sum %u, %d", files.size, sum, files.data == again.data);
  host->message_type(host, call, facts.request_type, &same);
  rpcurl_log(INFO, "again: %d", same == type);
  return RPCURL_OK;
}

static void log_fields(const rpcurl_host *host, rpcurl_token token, const char *what, const char *path) {
  char line[200];
  rpcurl_text name;
  size_t size = (size_t)snprintf(line, sizeof(line), "%s:", what);
  for (size_t index = 0; host->field_at(host, token, rpcurl_text_of(path), index, &name) == RPCURL_OK; index++) {
    size += (size_t)snprintf(line + size, sizeof(line) - size, " %.*s", S(name));
  }
  rpcurl_log(INFO, "%s", line);
}

static int32_t request_message(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  rpcurl_text name;
  (void)state, (void)call;
  if (host->field_at(host, token, RPCURL_TEXT("id"), 0, &name) != RPCURL_EPATH) return RPCURL_EFAILED;
  if (host->field_at(host, token, RPCURL_TEXT("parent.parent"), 0, &name) != RPCURL_ENOENT) return RPCURL_EFAILED;
  log_fields(host, token, "set", "");
  log_fields(host, token, "parent", "parent");
  return RPCURL_OK;
}

RPCURL_DEFINE_PLUGIN(.name = "schema", .open = open_call, .request_message = request_message)
