/*
 * Calls random functions of the host with random arguments, on four threads and in its callbacks: calls=NUMBER on the
 * threads in all, seed=NUMBER. It holds values at random; the threads use their tokens, or else a timer.
 */
#include <rpcurl/plugin.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { THREADS = 4, RING = 64 };

struct fuzz {
  const rpcurl_host *host;
  pthread_t threads[THREADS];
  int running;
  long wanted;
  atomic_long made;
  uint64_t seed;
};

/* Handles that were seen last; some of them are outdated. */
static _Atomic uint64_t tokens[RING], calls[RING], timers[RING], streams[RING];

static uint64_t next(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static void keep(_Atomic uint64_t *ring, uint64_t id, uint64_t random) { ring[random % RING] = id; }

static uint64_t pick(_Atomic uint64_t *ring, uint64_t *random) {
  uint64_t choice = next(random);
  return choice % 32 == 0 ? choice : ring[choice % RING];
}

static rpcurl_text any_text(uint64_t *random) {
  static const rpcurl_text texts[] = {
      RPCURL_TEXT_INIT(""), RPCURL_TEXT_INIT("name"), RPCURL_TEXT_INIT("string_value"), RPCURL_TEXT_INIT("message"),
      RPCURL_TEXT_INIT("list_value.values[0]"), RPCURL_TEXT_INIT("kind"), RPCURL_TEXT_INIT("a[\"b\"].c[-1]"),
      RPCURL_TEXT_INIT("\"json\""), RPCURL_TEXT_INIT("{\"name\": \"x\"}"), RPCURL_TEXT_INIT("\xff\xfe"),
      RPCURL_TEXT_INIT("x-header"), RPCURL_TEXT_INIT("X-Bin-bin"), RPCURL_TEXT_INIT("AAEC"), RPCURL_TEXT_INIT("te"),
      RPCURL_TEXT_INIT("\x1a\x03" "Ada"), RPCURL_TEXT_INIT("http://127.0.0.1:1"), RPCURL_TEXT_INIT("demo.v1.Demo/Hello"),
      RPCURL_TEXT_INIT("google.protobuf.Value"), RPCURL_TEXT_INIT("demo.v1.HelloRequest"), {NULL, 0}, {NULL, 9}};
  return texts[next(random) % (sizeof(texts) / sizeof(texts[0]))];
}

static void nothing(const rpcurl_host *host, void *argument) { (void)host, (void)argument; }
static void done(const rpcurl_host *host, void *argument, const rpcurl_own_response *response) {
  (void)host, (void)argument, (void)response;
}
static void fetched(const rpcurl_host *host, void *argument, const rpcurl_fetch_response *response) {
  (void)host, (void)argument, (void)response;
}

/* Arguments for one call. */
struct arguments {
  rpcurl_text one, two;
  rpcurl_field fields[2];
  rpcurl_local_message messages[2];
  rpcurl_detail details[2];
  int64_t number;
};

static size_t some_size(uint64_t *random, size_t right) { return next(random) % 16 == 0 ? next(random) % 300 : right; }

static struct arguments make(uint64_t *random) {
  struct arguments made = {.one = any_text(random), .two = any_text(random), .number = (int64_t)next(random) % 1000};
  if (next(random) % 64 == 0) made.number = (int64_t)next(random);
  for (int index = 0; index < 2; index++) {
    made.fields[index] = (rpcurl_field){any_text(random), any_text(random)};
    made.messages[index] = (rpcurl_local_message){.struct_size = some_size(random, sizeof(rpcurl_local_message)),
                                                  .form = next(random) % 4, .content = any_text(random)};
    made.details[index] = (rpcurl_detail){
        .struct_size = some_size(random, sizeof(rpcurl_detail)), .type_name = any_text(random), .value = any_text(random)};
  }
  return made;
}

static void token_call(const rpcurl_host *host, uint64_t *random, rpcurl_token token, rpcurl_call call) {
  struct arguments a = make(random);
  rpcurl_text text;
  rpcurl_value value = {(uint32_t)(next(random) % 9), 0, {.int64 = a.number}};
  union {
    rpcurl_start start;
    rpcurl_status status;
    rpcurl_metrics metrics;
    rpcurl_response_start response;
    char room[400];
  } out = {.status = {.struct_size = some_size(random, sizeof(rpcurl_status)) % 300}};
  rpcurl_response response = {.struct_size = some_size(random, sizeof(response)) % (sizeof(response) + 1), .headers = a.fields,
                              .header_count = next(random) % 3, .messages = a.messages, .message_count = next(random) % 3,
                              .code = (int32_t)(next(random) % 18), .message = a.one, .details = a.details,
                              .detail_count = next(random) % 3, .trailers = a.fields, .trailer_count = next(random) % 3};
  rpcurl_failure failure = {.struct_size = sizeof(failure), .code = (int32_t)(next(random) % 18), .message = a.one,
                            .details = a.details, .detail_count = next(random) % 3, .trailers = a.fields, .trailer_count = 1};
  if (value.type == RPCURL_TYPE_STRING || value.type == RPCURL_TYPE_BYTES) value.as.text = a.two;
  switch (next(random) % 44) {
    case 0: host->proceed(host, token); break;
    case 1: if (next(random) % 16 == 0) host->fail(host, token, (int32_t)a.number, a.one); break;
    case 2: if (next(random) % 16 == 0) host->fail_with(host, token, &failure); break;
    case 3: if (next(random) % 16 == 0) host->respond(host, token, &response); break;
    case 4: host->drop(host, token); break;
    case 5: host->retry(host, token, a.number % 1000, a.fields, next(random) % 3); break;
    case 6: host->inject(host, token, a.messages); break;
    case 7: out.start.struct_size = sizeof(out.start); host->get_start(host, token, &out.start); break;
    case 8: if (next(random) % 64 == 0) host->set_target(host, token, a.one); break;
    case 9: host->set_timeout(host, token, INT64_C(60000000000) + a.number); break;
    case 10: host->header_count(host, token); break;
    case 11: host->header_at(host, token, (size_t)a.number % 9, a.fields); break;
    case 12: host->header_first(host, token, a.one, &text); break;
    case 13: host->header_set(host, token, a.one, a.two); break;
    case 14: host->header_add(host, token, a.one, a.two); break;
    case 15: host->header_remove(host, token, a.one); break;
    case 16: host->get(host, token, a.one, &value); break;
    case 17: host->set(host, token, a.one, &value); break;
    case 18: host->append(host, token, a.one, &value); break;
    case 19: host->clear(host, token, a.one); break;
    case 20: host->has(host, token, a.one); break;
    case 21: host->length(host, token, a.one); break;
    case 22: host->field_at(host, token, a.one, (size_t)a.number, &text); break;
    case 23: host->key_at(host, token, a.one, (size_t)a.number, &value); break;
    case 24: host->which(host, token, a.one, &text); break;
    case 25: host->get_enum(host, token, a.one, &text); break;
    case 26: host->set_enum(host, token, a.one, a.two); break;
    case 27: host->get_json(host, token, a.one, &text); break;
    case 28: host->set_json(host, token, a.one, a.two); break;
    case 29: host->append_json(host, token, a.one, a.two); break;
    case 30: host->get_payload(host, token, &text); break;
    case 31: host->set_payload(host, token, a.one); break;
    case 32: out.response.struct_size = sizeof(out.response); host->get_response(host, token, &out.response); break;
    case 33: host->get_status(host, token, &out.status); break;
    case 34: host->set_status(host, token, (int32_t)a.number, a.one); break;
    case 35: host->detail_add(host, token, a.details); break;
    case 36: host->details_clear(host, token); break;
    case 37: out.metrics.struct_size = sizeof(out.metrics); host->get_metrics(host, token, &out.metrics); break;
    case 38: out.metrics.struct_size = sizeof(out.metrics); host->set_metrics(host, token, &out.metrics); break;
    case 39: if (next(random) % 64 == 0) host->start_response(host, token, a.fields, next(random) % 3); break;
    case 40: if (next(random) % 1024 == 0) host->inject_request(host, call, a.messages); break;
    case 41: if (next(random) % 1024 == 0) host->inject_response(host, call, a.messages); break;
    default: host->proceed(host, token); break;
  }
}

static void other_call(const rpcurl_host *host, uint64_t *random, rpcurl_call call) {
  struct arguments a = make(random);
  rpcurl_call_facts facts = {.struct_size = some_size(random, sizeof(facts)) % (sizeof(facts) + 1)};
  const rpcurl_message_type *type;
  const rpcurl_enum_type *values;
  const rpcurl_service_type *service;
  rpcurl_text files;
  rpcurl_timer timer = {pick(timers, random)};
  rpcurl_stream stream = {pick(streams, random)};
  rpcurl_own_call own = {.struct_size = sizeof(own), .method = a.one, .target = a.two, .headers = a.fields,
                         .header_count = next(random) % 3, .message = a.messages, .timeout_ns = 1000000,
                         .response_form = next(random) % 4};
  rpcurl_stream_events events = {.struct_size = sizeof(events), .ended = done};
  rpcurl_fetch fetch = {.struct_size = sizeof(fetch), .url = a.one, .body = a.two, .timeout_ns = 1000000};
  switch (next(random) % 24) {
    case 0: host->log(host, 0, a.one); break;
    case 1: host->set_error(host, a.one); break;
    case 2: host->last_error(host); break;
    case 3: host->get_extension(host, a.one); break;
    case 4: host->free(host, host->alloc(host, (size_t)next(random) % 5000)); break;
    case 5: host->call_facts(host, call, &facts); break;
    case 6: if (next(random) % 4096 == 0) host->cancel(host, call, a.one); break;
    case 7: if (next(random) % 4096 == 0) host->report(host, call, 0, a.one); break;
    case 8: host->message_type(host, call, a.one, &type); break;
    case 9: host->enum_type(host, call, a.one, &values); break;
    case 10: host->service_type(host, call, a.one, &service); break;
    case 11: if (host->after(host, call, 1000, nothing, NULL, &timer) == 0) keep(timers, timer.id, next(random)); break;
    case 12: host->cancel_timer(host, call, timer); break;
    case 13: host->post(host, call, nothing, NULL); break;
    case 14: if (next(random) % 64 == 0) host->call(host, call, &own, done, NULL); break;
    case 15:
      if (next(random) % 64 != 0) break;
      if (host->open_stream(host, call, next(random) % 5, &own, &events, NULL, &stream) == 0) {
        keep(streams, stream.id, next(random));
      }
      break;
    case 16: host->stream_send(host, call, stream, a.messages); break;
    case 17: host->stream_finish(host, call, stream); break;
    case 18: host->stream_pause(host, call, stream, next(random) % 2); break;
    case 19: host->stream_cancel(host, call, stream); break;
    case 20: if (next(random) % 64 == 0) host->fetch(host, call, &fetch, fetched, NULL); break;
    case 21: host->when_wanted(host, call, next(random) % 3, nothing, NULL); break;
    case 22: host->schema(host, call, &files); break;
    default: host->set_error(host, a.two); break;
  }
}

static void random_call(const rpcurl_host *host, uint64_t *random) {
  rpcurl_token token = {pick(tokens, random)};
  rpcurl_call call = {pick(calls, random)};
  if (next(random) % 4 == 0) other_call(host, random, call);
  else token_call(host, random, token, call);
}

static void *run(void *argument) {
  struct fuzz *fuzz = argument;
  uint64_t random = fuzz->seed * 2654435761u + (uint64_t)atomic_fetch_add(&fuzz->made, 1) * 40503u + 1;
  while (atomic_fetch_add(&fuzz->made, 1) < fuzz->wanted) random_call(fuzz->host, &random);
  return NULL;
}

static int32_t load(const rpcurl_host *host, void **plugin) {
  struct fuzz *fuzz = calloc(1, sizeof(*fuzz));
  if (fuzz == NULL) return rpcurl_fail(host, "out of memory");
  *fuzz = (struct fuzz){.host = host, .wanted = 10000, .seed = 1};
  *plugin = fuzz;
  return RPCURL_OK;
}

static int32_t configure(const rpcurl_host *host, void *plugin, rpcurl_text key, rpcurl_text value) {
  struct fuzz *fuzz = plugin;
  if (rpcurl_text_equal(key, RPCURL_TEXT("calls"))) fuzz->wanted = atol(value.data);
  else if (rpcurl_text_equal(key, RPCURL_TEXT("seed"))) fuzz->seed = (uint64_t)atol(value.data);
  else return rpcurl_fail(host, "unknown key");
  return RPCURL_OK;
}

static int32_t open_call(const rpcurl_host *host, void *plugin, rpcurl_call call, void **state) {
  struct fuzz *fuzz = plugin;
  (void)host;
  *state = fuzz;
  keep(calls, call.id, call.id);
  if (fuzz->running) return RPCURL_OK;
  fuzz->running = 1;
  for (int index = 0; index < THREADS; index++) pthread_create(&fuzz->threads[index], NULL, run, fuzz);
  return RPCURL_OK;
}

static int32_t needs(const rpcurl_host *host, void *state, rpcurl_needs *needs) {
  static atomic_uint call;
  (void)host, (void)state;
  needs->replay_limit_bytes = 1 << 16;
  needs->request_messages = atomic_fetch_add(&call, 1) % 7;
  needs->response_messages = (call + call / 7) % 7;
  return RPCURL_OK;
}

static void release(const rpcurl_host *host, void *argument) {
  host->proceed(host, (rpcurl_token){(uint64_t)(uintptr_t)argument});
}

static int32_t stage(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  struct fuzz *fuzz = state;
  uint64_t random = token.id * 2654435761u + fuzz->seed + 1;
  keep(tokens, token.id, next(&random));
  for (int count = 0; count < 4; count++) random_call(host, &random);
  if (next(&random) % 2 == 0) return RPCURL_OK;
  /* A thread may use it, at the latest the timer does. */
  if (host->after(host, call, 2000000, release, (void *)(uintptr_t)token.id, NULL) < 0) return RPCURL_OK;
  return RPCURL_LATER;
}

static void close_call(const rpcurl_host *host, void *state, rpcurl_call call, const rpcurl_outcome *outcome) {
  struct fuzz *fuzz = state;
  uint64_t random = call.id + fuzz->seed + 1;
  (void)outcome;
  for (int count = 0; count < 4; count++) random_call(host, &random);
}

static void unload(const rpcurl_host *host, void *plugin) {
  struct fuzz *fuzz = plugin;
  for (int index = 0; fuzz->running && index < THREADS; index++) pthread_join(fuzz->threads[index], NULL);
  rpcurl_log(host, RPCURL_LOG_INFO, "%ld calls of the host", atomic_load(&fuzz->made) >= fuzz->wanted ? fuzz->wanted : 0L);
  free(fuzz);
}

RPCURL_DEFINE_PLUGIN(.name = "fuzz", .config_help = "calls=NUMBER  of the host\nseed=NUMBER  of the random numbers",
                     .load = load, .configure = configure, .unload = unload, .open = open_call, .needs = needs,
                     .request_start = stage, .request_message = stage, .request_end = stage,
                     .response_start = stage, .response_message = stage, .response_end = stage, .metrics = stage, .close = close_call)
