// Uses the modules in C of Sources with one allocation failing after the other, also those of the libraries that they load.
//
//   module_allocations CASE FILE    FILE: a FileDescriptorProto in binary, for the case `file`
//
// Each run is a process of its own. It must end with the documented error of the module, or with success where the module
// works without the memory, and all blocks that it got must be freed or reachable. The exit code is 1 if a run does not,
// and the reasons are on standard error. Standard output gets the number of allocations.
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "CCompression.h"
#include "CLineEditor.h"
#include "descriptor.pb-c.h"
#include "google_rpc_status.pb-c.h"
#include "hdr/hdr_histogram.h"
#include "plugin_guard.h"
#include "reflection.pb-c.h"

// Allocations

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t), __libc_free(void *);
extern char __executable_start, etext;

static atomic_bool is_counting;
static atomic_long count, live;
static long first, last;
// Whether only those of the modules fail, since the library does not survive a failure of its own.
static bool is_of_modules;

static bool fails(void *caller) {
  if (!is_counting) return false;
  if (is_of_modules && ((char *)caller < &__executable_start || (char *)caller >= &etext)) return false;
  long number = atomic_fetch_add(&count, 1) + 1;
  if (number < first || number > last) return false;
  errno = ENOMEM;
  return true;
}

static void *counted(void *block) {
  if (block) live++;
  return block;
}

#define ALLOCATED(call) (fails(__builtin_return_address(0)) ? NULL : counted(call))

void *malloc(size_t size) { return ALLOCATED(__libc_malloc(size)); }
void *calloc(size_t number, size_t size) { return ALLOCATED(__libc_calloc(number, size)); }
void *memalign(size_t alignment, size_t size) { return ALLOCATED(__libc_memalign(alignment, size)); }
void *aligned_alloc(size_t alignment, size_t size) { return ALLOCATED(__libc_memalign(alignment, size)); }

int posix_memalign(void **block, size_t alignment, size_t size) {
  *block = ALLOCATED(__libc_memalign(alignment, size));
  return *block ? 0 : ENOMEM;
}

void free(void *block) {
  if (block) live--;
  __libc_free(block);
}

void *realloc(void *block, size_t size) {
  if (!block) return ALLOCATED(__libc_malloc(size));
  if (fails(__builtin_return_address(0))) return NULL;
  void *result = __libc_realloc(block, size);
  if (!result && size == 0) live--;
  return result;
}

// Cases

// The exit codes of a run, which libraries do not use.
enum { FIRST_CODE = 40 };
typedef enum { SUCCEEDED, FAILED, WRONG, LEAKED, RESULTS } outcome;
static const char *const names[RESULTS] = {
    "no error is reported", "failed", "the result is not the documented one", "blocks are leaked"};

// Blocks that a run keeps reachable.
static long kept;

// Written by the run without a failure.
static struct {
  long count, lost;
} *whole;

static const uint8_t *input;
static size_t input_count;
static uint8_t plain[300000], packed[400000];
static size_t packed_count;
static ccompression_format format;
static ccompression_direction direction;

// One stream from bytes to bytes, in pieces of output that are smaller than the windows of formats.
static outcome stream(ccompression_codec *codec, uint8_t *output, size_t *output_count) {
  bool is_encoded = direction == CCOMPRESSION_ENCODE;
  ccompression_buffers buffers = {is_encoded ? plain : packed, is_encoded ? sizeof plain : packed_count, NULL, 0};
  uint8_t *end = output + *output_count;
  *output_count = 0;
  for (;;) {
    buffers.output = output + *output_count;
    size_t room = (size_t)(end - buffers.output) < 10000 ? (size_t)(end - buffers.output) : 10000;
    buffers.output_count = room;
    ccompression_result result = ccompression_step(codec, &buffers);
    *output_count += room - buffers.output_count;
    if (result == CCOMPRESSION_DONE) return SUCCEEDED;
    if (result == CCOMPRESSION_FAILED) return FAILED;
    if (result != CCOMPRESSION_MORE || room == 0) return WRONG;
  }
}

static outcome whole_stream(ccompression_codec *codec) {
  static uint8_t output[sizeof packed];
  size_t size = sizeof output;
  outcome result = stream(codec, output, &size);
  if (result != SUCCEEDED) return result;
  bool is_encoded = direction == CCOMPRESSION_ENCODE;
  const uint8_t *expected = is_encoded ? packed : plain;
  size_t expected_count = is_encoded ? packed_count : sizeof plain;
  return size == expected_count && !memcmp(output, expected, size) ? SUCCEEDED : WRONG;
}

static outcome next_stream(ccompression_codec *codec) {
  ccompression_result result = ccompression_reset(codec);
  if (result == CCOMPRESSION_FAILED) return FAILED;
  return result == CCOMPRESSION_MORE ? whole_stream(codec) : WRONG;
}

static outcome run_codec(void) {
  ccompression_codec *codec = ccompression_create(format, direction, sizeof plain);
  if (!codec) return FAILED;
  outcome result = whole_stream(codec);
  if (result == SUCCEEDED) result = next_stream(codec);
  is_counting = false;
  // The program uses the codec for the next message.
  if (result == FAILED && next_stream(codec) != SUCCEEDED) result = WRONG;
  ccompression_destroy(codec);
  return result;
}

static void prepare_codec(void) {
  uint32_t state = 1;
  for (size_t index = 0; index < sizeof plain; index++) {
    state = state * 1664525 + 1013904223;
    plain[index] = "etaoinshrdlu"[(state >> 16) % 12];
  }
  if (ccompression_load(format, CCOMPRESSION_ENCODE) || ccompression_load(format, CCOMPRESSION_DECODE)) abort();
  ccompression_direction chosen = direction;
  direction = CCOMPRESSION_ENCODE;
  packed_count = sizeof packed;
  ccompression_codec *codec = ccompression_create(format, direction, 0);
  if (!codec || stream(codec, packed, &packed_count) != SUCCEEDED) abort();
  ccompression_destroy(codec);
  direction = chosen;
}

static outcome run_load(void) {
  long before = live;
  const char *error = ccompression_load(format, direction);
  // The library stays loaded, with what the loader needs for it.
  kept = live - before;
  is_counting = false;
  // The dynamic loader does not need all of them.
  if (!error) return first ? FAILED : SUCCEEDED;
  return *error && ccompression_load(format, direction) == error ? FAILED : WRONG;
}

static outcome run_histogram(void) {
  struct hdr_histogram *histogram = NULL;
  int code = hdr_init(1, 3600000000000, 3, &histogram);
  if (code == ENOMEM) return histogram ? WRONG : FAILED;
  if (code || !hdr_record_value(histogram, 7)) return WRONG;
  hdr_close(histogram);
  return SUCCEEDED;
}

static outcome run_plugin(void) {
  plugin_guard_plugin *plugin = plugin_guard_add("plugin.so");
  if (!plugin) return FAILED;
  int owner;
  plugin_guard_named(plugin, "name", &owner);
  kept = 2 + (plugin->name != NULL);
  if (strcmp(plugin->file, "plugin.so") || plugin->owner != &owner) return WRONG;
  // Reports have the file's name then.
  if (!plugin->name) return FAILED;
  return strcmp(plugin->name, "name") ? WRONG : SUCCEEDED;
}

static outcome run_record(void) {
  plugin_guard_record *record = plugin_guard_make_record();
  if (!record) return WRONG;
  bool is_shared = plugin_guard_mine != record;
  plugin_guard_plugin plugin = {.file = "plugin.so"};
  plugin_guard_place outer = plugin_guard_enter((plugin_guard_place){.plugin = &plugin});
  plugin_guard_record *own = plugin_guard_mine;
  plugin_guard_place place = plugin_guard_enter(outer);
  // Threads that share a record must not get the place of another one.
  if (outer.plugin || place.plugin != (own ? &plugin : NULL)) return WRONG;
  if (!own) return plugin_guard_mine ? WRONG : FAILED;
  kept = 1 + (own->alternate_stack != NULL);
  return is_shared || !own->alternate_stack ? FAILED : SUCCEEDED;
}

static outcome unpack(const ProtobufCMessageDescriptor *descriptor, const void *bytes, size_t size) {
  ProtobufCMessage *message = protobuf_c_message_unpack(descriptor, NULL, size, bytes);
  if (!message) return FAILED;
  bool is_whole = protobuf_c_message_get_packed_size(message) == size;
  protobuf_c_message_free_unpacked(message, NULL);
  return is_whole ? SUCCEEDED : WRONG;
}

static outcome run_file(void) { return unpack(&rpcurl__schemas__file_descriptor_proto__descriptor, input, input_count); }

static outcome run_status(void) {
  static const char status[] = "\x08\x05\x12\x09not found\x1a\x0b\x0a\x05t/a.B\x12\x02\x08\x01\x1a\x07\x0a\x05t/a.C\x7a\x01x";
  return unpack(&rpcurl__schemas__status__descriptor, status, sizeof status - 1);
}

static outcome run_reflection(void) {
  static const char response[] = "\x0a\x01h\x22\x08\x0a\x02" "ab\x0a\x02" "cd";
  return unpack(&rpcurl__schemas__server_reflection_response__descriptor, response, sizeof response - 1);
}

static outcome run_editor(void) {
  cline_editor *editor = cline_create(100);
  if (!editor) return FAILED;
  cline_remember(editor, "a line");
  is_counting = false;
  // Up: the last line, if it is remembered.
  cline_feed(editor, 0x10);
  size_t size = cline_line(editor).count;
  outcome result = size == strlen("a line") ? SUCCEEDED : size == 0 ? FAILED : WRONG;
  cline_feed(editor, 'x');
  if (cline_line(editor).count != size + 1) result = WRONG;
  cline_destroy(editor);
  // libedit does not free the names of added commands.
  kept = whole->lost;
  return result;
}

static void prepare_editor(void) {
  setenv("TERM", "xterm", 1);
  if (cline_load()) abort();
}

static void nothing(void) {}

typedef struct {
  const char *name;
  outcome (*run)(void);
  void (*prepare)(void);
  bool is_of_modules;
  ccompression_format format;
  ccompression_direction direction;
} test;

#define CODEC(name, format, is_of_modules)                                                                     \
  {name "-encode", run_codec, prepare_codec, is_of_modules, format, CCOMPRESSION_ENCODE},                      \
      {name "-decode", run_codec, prepare_codec, false, format, CCOMPRESSION_DECODE}

static const test tests[] = {
    CODEC("gzip", CCOMPRESSION_GZIP, false),
    CODEC("deflate", CCOMPRESSION_ZLIB, false),
    CODEC("zstd", CCOMPRESSION_ZSTD, false),
    // libbrotlienc ends the process by exit(1), and libsnappy by the `new` of C++.
    CODEC("br", CCOMPRESSION_BROTLI, true),
    CODEC("snappy", CCOMPRESSION_SNAPPY, true),
    {"load", run_load, nothing, false, CCOMPRESSION_ZSTD, CCOMPRESSION_ENCODE},
    {"histogram", run_histogram, nothing},
    {"plugin", run_plugin, nothing},
    {"record", run_record, nothing},
    {"file", run_file, nothing},
    {"status", run_status, nothing},
    {"reflection", run_reflection, nothing},
    // libedit reads through null pointers.
    {"editor", run_editor, prepare_editor, true},
};

// Runs

static outcome of_run(const test *test) {
  long before = live;
  is_counting = true;
  outcome result = test->run();
  is_counting = false;
  if (!first) {
    whole->count = count;
    whole->lost = live - before - kept;
    if (test->run == run_editor) return result;
  }
  return live - before == kept ? result : LEAKED;
}

// A run in which some allocations fail; -1 if it ends before its own end.
static int run(const test *test, long from, long to) {
  pid_t child = fork();
  if (child < 0) abort();
  if (child == 0) {
    first = from;
    last = to;
    is_of_modules = test->is_of_modules;
    alarm(60);
    _exit(FIRST_CODE + of_run(test));
  }
  int status;
  if (waitpid(child, &status, 0) != child) abort();
  int result = WIFEXITED(status) ? WEXITSTATUS(status) - FIRST_CODE : -1;
  return result < RESULTS ? result : -1;
}

static void read_input(const char *path) {
  FILE *file = fopen(path, "rb");
  static uint8_t bytes[1 << 20];
  if (!file) abort();
  input = bytes;
  input_count = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
}

int main(int argc, char **argv) {
  const test *test = NULL;
  for (size_t index = 0; argc == 3 && index < sizeof tests / sizeof *tests; index++)
    if (!strcmp(argv[1], tests[index].name)) test = &tests[index];
  if (!test) return 2;
  read_input(argv[2]);
  whole = mmap(NULL, sizeof *whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  format = test->format;
  direction = test->direction;
  test->prepare();
  int result = run(test, 0, 0);
  long total = whole->count;
  int wrong = result != SUCCEEDED || total == 0;
  if (wrong) fprintf(stderr, "without a failure: %s\n", result < 0 ? "the process ended" : names[result]);
  for (long number = 1; number <= total; number++)
    for (int is_once = 0; is_once < 2; is_once++)
      if ((result = run(test, number, is_once ? number : LONG_MAX)) != FAILED) {
        const char *what = result < 0 ? "the process ended" : names[result];
        fprintf(stderr, "allocation %ld of %ld fails %s: %s\n", number, total, is_once ? "once" : "from then on", what);
        wrong = 1;
      }
  printf("%ld\n", total);
  return wrong;
}
