/* What a plugin does outside of calls: timers, posted functions, requests, counters and shared values. */
#include <rpcurl/plugin.h>
#include <stdio.h>

#define T RPCURL_TEXT
#define S(text) (int)(text).size, (text).data
#define INFO host, RPCURL_LOG_INFO

static rpcurl_timer late;

static void log_result(const rpcurl_host *host, const char *what, int32_t result) {
  rpcurl_text reason = host->last_error(host);
  if (result < 0) rpcurl_log(INFO, "%s: %d %.*s", what, (int)result, S(reason));
  else rpcurl_log(INFO, "%s: %d", what, (int)result);
}

static void run(const rpcurl_host *host, void *argument) { rpcurl_log(INFO, "runs: %s", (const char *)argument); }

static void fetched(const rpcurl_host *host, void *argument, const rpcurl_fetch_response *response) {
  (void)argument;
  rpcurl_log(INFO, "fetched: %d %d %.*s", (int)response->status->code, (int)response->http_status, S(response->body));
}

static void done(const rpcurl_host *host, void *argument, const rpcurl_own_response *response) {
  rpcurl_log(INFO, "%s ended: %d %.*s%.*s, fields %d", (const char *)argument, (int)response->status->code,
             S(response->status->message), S(response->message), response->fields.id != 0);
}

static int32_t load(const rpcurl_host *host, void **plugin) {
  rpcurl_text text = {NULL, 0};
  *plugin = NULL;
  log_result(host, "share_get", host->share_get(host, T("token"), &text));
  rpcurl_log(INFO, "shared: %.*s", S(text));
  log_result(host, "share_set", host->share_set(host, T("token"), T("abc")));
  log_result(host, "no name", host->share_set(host, T(""), T("abc")));
  log_result(host, "metric_add", host->metric_add(host, T("jobs_total"), 2.5));
  log_result(host, "name", host->metric_add(host, T("2jobs"), 1));
  log_result(host, "negative", host->metric_add(host, T("jobs_total"), -1));
  log_result(host, "post", host->post(host, RPCURL_NO_CALL, run, "posted"));
  return RPCURL_OK;
}

static int32_t ready(const rpcurl_host *host, void *plugin) {
  const rpcurl_fetch fetch = {.struct_size = sizeof(fetch), .url = T("https://tokens/t")};
  rpcurl_local_message message = {
      .struct_size = sizeof(message), .form = RPCURL_FORM_JSON, .content = T("{\"name\": \"Ada\"}")};
  rpcurl_own_call own = {.struct_size = sizeof(own), .method = T("shop.Shop/Get"), .message = &message,
                         .response_form = RPCURL_FORM_JSON};
  const rpcurl_stream_events events = {.struct_size = sizeof(events), .ended = done};
  rpcurl_stream stream;
  rpcurl_timer timer;
  (void)plugin;
  log_result(host, "after", host->after(host, RPCURL_NO_CALL, 1000000000, run, "after 1 s", NULL));
  log_result(host, "after", host->after(host, RPCURL_NO_CALL, 3600000000000, run, "after 1 h", &late));
  log_result(host, "after", host->after(host, RPCURL_NO_CALL, 1000000000, run, "never", &timer));
  log_result(host, "cancel", host->cancel_timer(host, RPCURL_NO_CALL, timer));
  log_result(host, "cancel again", host->cancel_timer(host, RPCURL_NO_CALL, timer));
  log_result(host, "fetch", host->fetch(host, RPCURL_NO_CALL, &fetch, fetched, NULL));
  log_result(host, "call", host->call(host, RPCURL_NO_CALL, &own, done, "call"));
  message.content = T("{");
  log_result(host, "bad message", host->call(host, RPCURL_NO_CALL, &own, done, "bad message"));
  own.method = T("Get");
  log_result(host, "bad method", host->call(host, RPCURL_NO_CALL, &own, done, NULL));
  log_result(host, "stream", host->open_stream(host, RPCURL_NO_CALL, 0, &own, &events, NULL, &stream));
  return RPCURL_OK;
}

static void conclude(const rpcurl_host *host, void *plugin) {
  const rpcurl_fetch fetch = {.struct_size = sizeof(fetch), .url = T("https://export/")};
  const rpcurl_local_message bad = {.struct_size = sizeof(bad), .form = RPCURL_FORM_JSON, .content = T("{")};
  const rpcurl_own_call own = {.struct_size = sizeof(own), .method = T("shop.Shop/Get"), .message = &bad};
  (void)plugin;
  log_result(host, "export", host->fetch(host, RPCURL_NO_CALL, &fetch, fetched, NULL));
  log_result(host, "bad message", host->call(host, RPCURL_NO_CALL, &own, done, NULL));
}

static void unload(const rpcurl_host *host, void *plugin) {
  (void)plugin;
  log_result(host, "unload, after", host->after(host, RPCURL_NO_CALL, 0, run, NULL, NULL));
  log_result(host, "post", host->post(host, RPCURL_NO_CALL, run, NULL));
}

RPCURL_DEFINE_PLUGIN(.name = "outside", .load = load, .ready = ready, .conclude = conclude, .unload = unload)
