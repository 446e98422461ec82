#define _GNU_SOURCE /* dlinfo */
#include "CCompression.h"
#include "SnappyFraming.h"

#include <brotli/decode.h>
#include <brotli/encode.h>
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

/* zlib and zstd compress at their default levels. Brotli's default is meant for static files. */
#define BROTLI_MESSAGE_QUALITY 5

/* A decoder accepts windows of 8 MiB, as RFC 8878 recommends, and larger ones only for a message of that size. */
#define ZSTD_SMALLEST_WINDOW_LOG 23
#define ZSTD_LARGEST_WINDOW_LOG 27

/* Each library's functions by their own names, as in CCurl.c. */
#define ZLIB_FUNCTIONS(X) \
  X(inflateInit2_) X(inflate) X(inflateReset) X(inflateEnd) \
  X(deflateInit2_) X(deflate) X(deflateReset) X(deflateEnd)
#define ZSTD_FUNCTIONS(X) \
  X(ZSTD_isError) X(ZSTD_getErrorCode) \
  X(ZSTD_createDCtx) X(ZSTD_DCtx_setParameter) X(ZSTD_decompressStream) X(ZSTD_DCtx_reset) X(ZSTD_freeDCtx) \
  X(ZSTD_createCCtx) X(ZSTD_compressStream2) X(ZSTD_CCtx_reset) X(ZSTD_freeCCtx)
#define BROTLI_DECODER_FUNCTIONS(X) \
  X(BrotliDecoderCreateInstance) X(BrotliDecoderDecompressStream) X(BrotliDecoderGetErrorCode) \
  X(BrotliDecoderDestroyInstance)
#define BROTLI_ENCODER_FUNCTIONS(X) \
  X(BrotliEncoderCreateInstance) X(BrotliEncoderSetParameter) X(BrotliEncoderCompressStream) \
  X(BrotliEncoderIsFinished) X(BrotliEncoderDestroyInstance)
#define SNAPPY_FUNCTIONS(X) X(snappy_compress) X(snappy_uncompress) X(snappy_uncompressed_length)

static struct {
#define MEMBER(name) __typeof__(&name) name;
  ZLIB_FUNCTIONS(MEMBER)
  ZSTD_FUNCTIONS(MEMBER)
  BROTLI_DECODER_FUNCTIONS(MEMBER)
  BROTLI_ENCODER_FUNCTIONS(MEMBER)
  SNAPPY_FUNCTIONS(MEMBER)
} lib;

typedef struct {
  pthread_once_t once;
  void (*load)(void);
  /* NULL if it is part of the program. */
  const char *file;
  const char *error;
  char text[160];
} library;

static void *open_library(library *state) {
  void *handle = dlopen(state->file, RTLD_LAZY | RTLD_LOCAL);
  if (!handle) {
    snprintf(state->text, sizeof state->text, "%s", dlerror());
    state->error = state->text;
  }
  return handle;
}

#define DEFINE(variable, file)                                                                                 \
  static void load_##variable(void);                                                                           \
  static library variable = {PTHREAD_ONCE_INIT, load_##variable, file};                                        \
  static void load_##variable(void)
#define RESOLVE(name)                                                                                          \
  *(void **)&lib.name = dlsym(handle, #name);                                                                  \
  if (!lib.name) {                                                                                             \
    state->error = "missing function " #name;                                                       \
    return;                                                                                                    \
  }
#define DEFINE_LIBRARY(variable, file, FUNCTIONS)                                                              \
  DEFINE(variable, file) {                                                                                     \
    library *state = &variable;                                                                                \
    void *handle = open_library(state);                                                                        \
    if (!handle) return;                                                                                       \
    FUNCTIONS(RESOLVE)                                                                                         \
  }
#ifdef RPCURL_BUILTIN_COMPRESSION
/* Those that are in the program: libcurl needs zlib, and libsnappy.so.1 would load the C++ library a second time, which is
 * 2 million instructions in each call. */
#define LINKED(name) lib.name = name;
#define DEFINE_INCLUDED(variable, file, FUNCTIONS) DEFINE(variable, NULL) { FUNCTIONS(LINKED) }
#else
#define DEFINE_INCLUDED DEFINE_LIBRARY
#endif
#ifdef __APPLE__
#define SHARED(name) "lib" name ".1.dylib"
#else
#define SHARED(name) "lib" name ".so.1"
#endif
DEFINE_INCLUDED(zlib, SHARED("z"), ZLIB_FUNCTIONS)
DEFINE_INCLUDED(snappy, SHARED("snappy"), SNAPPY_FUNCTIONS)
DEFINE_LIBRARY(zstd, SHARED("zstd"), ZSTD_FUNCTIONS)
DEFINE_LIBRARY(brotli_decoder, SHARED("brotlidec"), BROTLI_DECODER_FUNCTIONS)
DEFINE_LIBRARY(brotli_encoder, SHARED("brotlienc"), BROTLI_ENCODER_FUNCTIONS)

static library *library_of(ccompression_format format, ccompression_direction direction) {
  switch (format) {
  case CCOMPRESSION_GZIP:
  case CCOMPRESSION_ZLIB: return &zlib;
  case CCOMPRESSION_ZSTD: return &zstd;
  case CCOMPRESSION_BROTLI: return direction == CCOMPRESSION_ENCODE ? &brotli_encoder : &brotli_decoder;
  case CCOMPRESSION_SNAPPY: break;
  }
  return &snappy;
}

const char *ccompression_load(ccompression_format format, ccompression_direction direction) {
  library *state = library_of(format, direction);
  pthread_once(&state->once, state->load);
  return state->error;
}

bool ccompression_is_installed(ccompression_format format, ccompression_direction direction) {
  const char *file = library_of(format, direction)->file;
  if (!file) return true;
#ifdef __linux__
  /* Other files may take precedence. */
  if (getenv("LD_LIBRARY_PATH")) return false;
  struct link_map *libc;
  void *handle = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &libc) != 0) return false;
  const char *slash = strrchr(libc->l_name, '/');
  char path[PATH_MAX];
  int length = slash ? snprintf(path, sizeof path, "%.*s/%s", (int)(slash - libc->l_name), libc->l_name, file) : 0;
  return length > 0 && (size_t)length < sizeof path && access(path, R_OK) == 0;
#else
  return false;
#endif
}

/* The functions of a format and direction. */
typedef struct {
  ccompression_result (*start)(ccompression_codec *codec);
  ccompression_result (*step)(ccompression_codec *codec, ccompression_buffers *buffers);
  ccompression_result (*reset)(ccompression_codec *codec);
  void (*finish)(ccompression_codec *codec);
} operations;

struct ccompression_codec {
  const operations *operations;
  ccompression_format format;
  size_t expected_bytes;
  union {
    z_stream z;
    ZSTD_DCtx *zstd_decoder;
    ZSTD_CCtx *zstd_encoder;
    BrotliDecoderState *brotli_decoder;
    BrotliEncoderState *brotli_encoder;
    snappy_framing *snappy;
  } state;
};

/* zlib */

static uInt clipped(size_t count) { return count < INT_MAX ? (uInt)count : INT_MAX; }

static void give(z_stream *z, const ccompression_buffers *buffers) {
  z->next_in = (Bytef *)buffers->input;
  z->avail_in = clipped(buffers->input_count);
  z->next_out = buffers->output;
  z->avail_out = clipped(buffers->output_count);
}

static ccompression_result take(z_stream *z, ccompression_buffers *buffers, int code) {
  buffers->input_count -= (size_t)(z->next_in - buffers->input);
  buffers->input = z->next_in;
  buffers->output_count -= (size_t)(z->next_out - buffers->output);
  buffers->output = z->next_out;
  switch (code) {
  case Z_STREAM_END: return CCOMPRESSION_DONE;
  case Z_OK:
  case Z_BUF_ERROR: return CCOMPRESSION_MORE; /* no progress without more input or output */
  case Z_MEM_ERROR: return CCOMPRESSION_FAILED;
  default: return CCOMPRESSION_CORRUPT;
  }
}

static ccompression_result outcome(bool is_good) { return is_good ? CCOMPRESSION_MORE : CCOMPRESSION_FAILED; }

/* 15 bits of window; 16 more select gzip's header and checksum. */
static int window_bits(const ccompression_codec *codec) { return codec->format == CCOMPRESSION_GZIP ? 15 + 16 : 15; }

static ccompression_result start_inflate(ccompression_codec *codec) {
  codec->state.z = (z_stream){0};
  return outcome(
      lib.inflateInit2_(&codec->state.z, window_bits(codec), ZLIB_VERSION, sizeof codec->state.z) == Z_OK);
}
static ccompression_result step_inflate(ccompression_codec *codec, ccompression_buffers *buffers) {
  give(&codec->state.z, buffers);
  return take(&codec->state.z, buffers, lib.inflate(&codec->state.z, Z_NO_FLUSH));
}
static ccompression_result reset_inflate(ccompression_codec *codec) {
  return outcome(lib.inflateReset(&codec->state.z) == Z_OK);
}
static void finish_inflate(ccompression_codec *codec) { lib.inflateEnd(&codec->state.z); }

static ccompression_result start_deflate(ccompression_codec *codec) {
  codec->state.z = (z_stream){0};
  return outcome(
      lib.deflateInit2_(
          &codec->state.z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits(codec), 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
          sizeof codec->state.z) == Z_OK);
}
static ccompression_result step_deflate(ccompression_codec *codec, ccompression_buffers *buffers) {
  give(&codec->state.z, buffers);
  int flush = codec->state.z.avail_in == buffers->input_count ? Z_FINISH : Z_NO_FLUSH;
  return take(&codec->state.z, buffers, lib.deflate(&codec->state.z, flush));
}
static ccompression_result reset_deflate(ccompression_codec *codec) {
  return outcome(lib.deflateReset(&codec->state.z) == Z_OK);
}
static void finish_deflate(ccompression_codec *codec) { lib.deflateEnd(&codec->state.z); }

/* zstd */

static ccompression_result start_zstd_decoder(ccompression_codec *codec) {
  codec->state.zstd_decoder = lib.ZSTD_createDCtx();
  if (!codec->state.zstd_decoder) return CCOMPRESSION_FAILED;
  int log = ZSTD_SMALLEST_WINDOW_LOG;
  while (log < ZSTD_LARGEST_WINDOW_LOG && (size_t)1 << log < codec->expected_bytes) log++;
  size_t code = lib.ZSTD_DCtx_setParameter(codec->state.zstd_decoder, ZSTD_d_windowLogMax, log);
  return outcome(!lib.ZSTD_isError(code));
}

static ccompression_result moved(
    ccompression_buffers *buffers, const ZSTD_inBuffer *in, const ZSTD_outBuffer *out, ccompression_result result) {
  buffers->input += in->pos;
  buffers->input_count -= in->pos;
  buffers->output += out->pos;
  buffers->output_count -= out->pos;
  return result;
}

static ccompression_result step_zstd_decoder(ccompression_codec *codec, ccompression_buffers *buffers) {
  ZSTD_inBuffer in = {buffers->input, buffers->input_count, 0};
  ZSTD_outBuffer out = {buffers->output, buffers->output_count, 0};
  size_t left = lib.ZSTD_decompressStream(codec->state.zstd_decoder, &out, &in);
  if (lib.ZSTD_isError(left)) {
    switch (lib.ZSTD_getErrorCode(left)) {
    case ZSTD_error_frameParameter_windowTooLarge: return CCOMPRESSION_TOO_LARGE;
    case ZSTD_error_memory_allocation: return CCOMPRESSION_FAILED;
    default: return CCOMPRESSION_CORRUPT;
    }
  }
  return moved(buffers, &in, &out, left == 0 ? CCOMPRESSION_DONE : CCOMPRESSION_MORE);
}
static ccompression_result reset_zstd_decoder(ccompression_codec *codec) {
  return outcome(!lib.ZSTD_isError(lib.ZSTD_DCtx_reset(codec->state.zstd_decoder, ZSTD_reset_session_only)));
}
static void finish_zstd_decoder(ccompression_codec *codec) { lib.ZSTD_freeDCtx(codec->state.zstd_decoder); }

static ccompression_result start_zstd_encoder(ccompression_codec *codec) {
  codec->state.zstd_encoder = lib.ZSTD_createCCtx();
  return outcome(codec->state.zstd_encoder);
}
static ccompression_result step_zstd_encoder(ccompression_codec *codec, ccompression_buffers *buffers) {
  ZSTD_inBuffer in = {buffers->input, buffers->input_count, 0};
  ZSTD_outBuffer out = {buffers->output, buffers->output_count, 0};
  size_t left = lib.ZSTD_compressStream2(codec->state.zstd_encoder, &out, &in, ZSTD_e_end);
  if (lib.ZSTD_isError(left)) return CCOMPRESSION_FAILED;
  return moved(buffers, &in, &out, left == 0 ? CCOMPRESSION_DONE : CCOMPRESSION_MORE);
}
static ccompression_result reset_zstd_encoder(ccompression_codec *codec) {
  return outcome(!lib.ZSTD_isError(lib.ZSTD_CCtx_reset(codec->state.zstd_encoder, ZSTD_reset_session_only)));
}
static void finish_zstd_encoder(ccompression_codec *codec) { lib.ZSTD_freeCCtx(codec->state.zstd_encoder); }

/* brotli, which cannot be reset: a codec is made again */

static ccompression_result start_brotli_decoder(ccompression_codec *codec) {
  codec->state.brotli_decoder = lib.BrotliDecoderCreateInstance(NULL, NULL, NULL);
  return outcome(codec->state.brotli_decoder);
}
static bool is_out_of_memory(BrotliDecoderErrorCode code) {
  return code <= BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES && code >= BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES;
}
static ccompression_result step_brotli_decoder(ccompression_codec *codec, ccompression_buffers *buffers) {
  BrotliDecoderResult result = lib.BrotliDecoderDecompressStream(
      codec->state.brotli_decoder, &buffers->input_count, &buffers->input, &buffers->output_count, &buffers->output,
      NULL);
  switch (result) {
  case BROTLI_DECODER_RESULT_SUCCESS: return CCOMPRESSION_DONE;
  case BROTLI_DECODER_RESULT_ERROR:
    return is_out_of_memory(lib.BrotliDecoderGetErrorCode(codec->state.brotli_decoder)) ? CCOMPRESSION_FAILED
                                                                                       : CCOMPRESSION_CORRUPT;
  default: return CCOMPRESSION_MORE;
  }
}
static void finish_brotli_decoder(ccompression_codec *codec) {
  lib.BrotliDecoderDestroyInstance(codec->state.brotli_decoder);
}
static ccompression_result reset_brotli_decoder(ccompression_codec *codec) {
  finish_brotli_decoder(codec);
  return start_brotli_decoder(codec);
}

static ccompression_result start_brotli_encoder(ccompression_codec *codec) {
  codec->state.brotli_encoder = lib.BrotliEncoderCreateInstance(NULL, NULL, NULL);
  return outcome(
      codec->state.brotli_encoder &&
      lib.BrotliEncoderSetParameter(codec->state.brotli_encoder, BROTLI_PARAM_QUALITY, BROTLI_MESSAGE_QUALITY));
}
static ccompression_result step_brotli_encoder(ccompression_codec *codec, ccompression_buffers *buffers) {
  bool is_good = lib.BrotliEncoderCompressStream(
      codec->state.brotli_encoder, BROTLI_OPERATION_FINISH, &buffers->input_count, &buffers->input,
      &buffers->output_count, &buffers->output, NULL);
  if (!is_good) return CCOMPRESSION_FAILED;
  return lib.BrotliEncoderIsFinished(codec->state.brotli_encoder) ? CCOMPRESSION_DONE : CCOMPRESSION_MORE;
}
static void finish_brotli_encoder(ccompression_codec *codec) {
  lib.BrotliEncoderDestroyInstance(codec->state.brotli_encoder);
}
static ccompression_result reset_brotli_encoder(ccompression_codec *codec) {
  finish_brotli_encoder(codec);
  return start_brotli_encoder(codec);
}

/* snappy */

static ccompression_result start_snappy(ccompression_codec *codec) {
  snappy_blocks blocks = {lib.snappy_compress, lib.snappy_uncompress, lib.snappy_uncompressed_length};
  codec->state.snappy = snappy_framing_create(&blocks);
  return outcome(codec->state.snappy);
}
static ccompression_result step_snappy_decoder(ccompression_codec *codec, ccompression_buffers *buffers) {
  return snappy_framing_decode(codec->state.snappy, buffers);
}
static ccompression_result step_snappy_encoder(ccompression_codec *codec, ccompression_buffers *buffers) {
  return snappy_framing_encode(codec->state.snappy, buffers);
}
static ccompression_result reset_snappy(ccompression_codec *codec) {
  snappy_framing_reset(codec->state.snappy);
  return CCOMPRESSION_MORE;
}
static void finish_snappy(ccompression_codec *codec) { free(codec->state.snappy); }

/* Any format */

#define OPERATIONS(name) {start_##name, step_##name, reset_##name, finish_##name}
static const operations all_operations[][2] = {
    [CCOMPRESSION_GZIP] = {[CCOMPRESSION_ENCODE] = OPERATIONS(deflate), [CCOMPRESSION_DECODE] = OPERATIONS(inflate)},
    [CCOMPRESSION_ZLIB] = {[CCOMPRESSION_ENCODE] = OPERATIONS(deflate), [CCOMPRESSION_DECODE] = OPERATIONS(inflate)},
    [CCOMPRESSION_ZSTD] =
        {[CCOMPRESSION_ENCODE] = OPERATIONS(zstd_encoder), [CCOMPRESSION_DECODE] = OPERATIONS(zstd_decoder)},
    [CCOMPRESSION_BROTLI] =
        {[CCOMPRESSION_ENCODE] = OPERATIONS(brotli_encoder), [CCOMPRESSION_DECODE] = OPERATIONS(brotli_decoder)},
    [CCOMPRESSION_SNAPPY] =
        {[CCOMPRESSION_ENCODE] = {start_snappy, step_snappy_encoder, reset_snappy, finish_snappy},
         [CCOMPRESSION_DECODE] = {start_snappy, step_snappy_decoder, reset_snappy, finish_snappy}},
};

ccompression_codec *ccompression_create(
    ccompression_format format, ccompression_direction direction, size_t expected_bytes) {
  ccompression_codec *codec = calloc(1, sizeof *codec);
  if (!codec) return NULL;
  codec->operations = &all_operations[format][direction];
  codec->format = format;
  codec->expected_bytes = expected_bytes;
  if (codec->operations->start(codec) != CCOMPRESSION_MORE) {
    free(codec);
    return NULL;
  }
  return codec;
}

ccompression_result ccompression_step(ccompression_codec *codec, ccompression_buffers *buffers) {
  return codec->operations->step(codec, buffers);
}

ccompression_result ccompression_reset(ccompression_codec *codec) { return codec->operations->reset(codec); }

void ccompression_destroy(ccompression_codec *codec) {
  codec->operations->finish(codec);
  free(codec);
}
