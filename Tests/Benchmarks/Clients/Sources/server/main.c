/* The service of bench.proto over h2c, faster than the clients that are measured: one thread, messages in place, and writes of
 * 256 KB. It prints its port, and runs until it is killed. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECTIONS = 1024, OUTPUT = 256 << 10, STREAMS = 200000, PATTERN = 1024 };

static const uint8_t item[] = "\0\0\0\0\x31\x0a\x2dxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\x10\x05";
enum { ITEM = sizeof item - 1 };
/* What Receive sends, again and again. */
static uint8_t pattern[ITEM * PATTERN];

enum method { UNARY, RECEIVE, SEND, GATE, UNKNOWN };

struct connection {
  int fd;
  nghttp2_session *session;
  size_t first, end; /* what waits in output */
  uint8_t output[OUTPUT];
};

struct stream {
  struct connection *connection;
  struct stream *next; /* at the gate */
  int32_t id;
  enum method method;
  bool at_gate;
  /* The request: the first bytes, and the messages of which it consists. */
  uint8_t request[128];
  size_t request_size, header_size, body_left;
  uint8_t header[5];
  uint64_t messages;
  /* The response. */
  const uint8_t *source;
  size_t position, left;
  size_t frame; /* the most bytes of a frame */
};

static struct connection *connections[CONNECTIONS];
static struct stream *gate;
static uint64_t waiting;

static ssize_t fill(nghttp2_session *session, int32_t id, uint8_t *out, size_t size, uint32_t *flags,
                    nghttp2_data_source *source, void *context) {
  (void)context;
  struct stream *stream = source->ptr;
  size_t cycle = stream->source == pattern ? sizeof pattern : stream->left + stream->position, done = 0;
  if (size > stream->frame) size = stream->frame;
  while (done < size && stream->left > 0) {
    size_t count = cycle - stream->position;
    if (count > size - done) count = size - done;
    if (count > stream->left) count = stream->left;
    memcpy(out + done, stream->source + stream->position, count);
    done += count;
    stream->left -= count;
    stream->position = (stream->position + count) % cycle;
  }
  if (stream->left == 0) {
    *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
    nghttp2_nv status = {(uint8_t *)"grpc-status", (uint8_t *)"0", 11, 1, 0};
    nghttp2_submit_trailer(session, id, &status, 1);
  }
  return (ssize_t)done;
}

static void respond(struct stream *stream, const uint8_t *bytes, size_t count, size_t frame) {
  nghttp2_nv head[] = {{(uint8_t *)":status", (uint8_t *)"200", 7, 3, 0},
                       {(uint8_t *)"content-type", (uint8_t *)"application/grpc", 12, 16, 0}};
  nghttp2_data_provider provider = {{.ptr = stream}, fill};
  stream->source = bytes;
  stream->left = count;
  stream->frame = frame;
  nghttp2_submit_response(stream->connection->session, stream->id, head, 2, &provider);
}

/* The number of an item, and whether it has a name. */
static uint64_t number(const struct stream *stream, bool *named) {
  const uint8_t *at = stream->request + 5, *end = stream->request + stream->request_size;
  *named = at + 1 < end && at[0] == 0x0a;
  if (*named) at += 2 + at[1];
  uint64_t value = 0;
  if (at < end && *at++ == 0x10)
    for (int shift = 0; at < end && shift < 64; shift += 7, at++) {
      value |= (uint64_t)(*at & 0x7f) << shift;
      if (*at < 0x80) break;
    }
  return value;
}

static void leave_gate(struct stream *stream) {
  struct stream **link = &gate;
  while (*link && *link != stream) link = &(*link)->next;
  if (*link) *link = stream->next;
  stream->at_gate = false;
}

/* Lets all calls through when as many wait as each demands. */
static void enter_gate(struct stream *stream) {
  bool is_held;
  uint64_t count = number(stream, &is_held);
  waiting++;
  if (!is_held) {
    stream->next = gate;
    stream->at_gate = true;
    gate = stream;
  }
  if (waiting < count) return;
  waiting = 0;
  for (; gate; gate = gate->next) {
    gate->at_gate = false;
    respond(gate, gate->request, gate->request_size, SIZE_MAX);
  }
}

static void end_request(struct stream *stream) {
  switch (stream->method) {
  case UNARY: respond(stream, stream->request, stream->request_size, SIZE_MAX); break;
  case RECEIVE: {
    bool is_packed;
    uint64_t count = number(stream, &is_packed);
    respond(stream, pattern, count * ITEM, is_packed ? SIZE_MAX : ITEM);
    break;
  }
  case GATE: enter_gate(stream); break;
  case SEND: {
    uint64_t count = stream->messages;
    uint8_t *out = stream->request;
    out[0] = 0;
    out[5] = 0x10;
    size_t size = 6;
    for (; count > 0x7f; count >>= 7) out[size++] = (uint8_t)count | 0x80;
    out[size++] = (uint8_t)count;
    out[1] = out[2] = out[3] = 0;
    out[4] = (uint8_t)(size - 5);
    respond(stream, out, size, SIZE_MAX);
    break;
  }
  case UNKNOWN: nghttp2_submit_rst_stream(stream->connection->session, 0, stream->id, NGHTTP2_REFUSED_STREAM);
  }
}

static void count_messages(struct stream *stream, const uint8_t *data, size_t size) {
  while (size > 0) {
    if (stream->body_left > 0) {
      size_t count = stream->body_left < size ? stream->body_left : size;
      stream->body_left -= count;
      data += count;
      size -= count;
    } else {
      stream->header[stream->header_size++] = *data++;
      size--;
      if (stream->header_size == 5) {
        const uint8_t *h = stream->header;
        stream->body_left = (size_t)h[1] << 24 | (size_t)h[2] << 16 | (size_t)h[3] << 8 | h[4];
        stream->header_size = 0;
        stream->messages++;
      }
    }
  }
}

static int on_begin(nghttp2_session *session, const nghttp2_frame *frame, void *context) {
  if (frame->hd.type != NGHTTP2_HEADERS) return 0;
  struct stream *stream = calloc(1, sizeof *stream);
  if (!stream) return NGHTTP2_ERR_CALLBACK_FAILURE;
  stream->connection = context;
  stream->id = frame->hd.stream_id;
  stream->method = UNKNOWN;
  return nghttp2_session_set_stream_user_data(session, stream->id, stream);
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_size,
                     const uint8_t *value, size_t size, uint8_t flags, void *context) {
  (void)flags, (void)context;
  static const char *const paths[] = {"/bench.v1.Bench/Unary", "/bench.v1.Bench/Receive", "/bench.v1.Bench/Send",
                                      "/bench.v1.Bench/Gate"};
  struct stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
  if (!stream || name_size != 5 || memcmp(name, ":path", 5) != 0) return 0;
  for (int method = UNARY; method < UNKNOWN; method++)
    if (strlen(paths[method]) == size && memcmp(paths[method], value, size) == 0) stream->method = method;
  return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data, size_t size,
                   void *context) {
  (void)flags, (void)context;
  struct stream *stream = nghttp2_session_get_stream_user_data(session, id);
  if (!stream) return 0;
  if (stream->method == SEND) {
    count_messages(stream, data, size);
  } else if (size <= sizeof stream->request - stream->request_size) {
    memcpy(stream->request + stream->request_size, data, size);
    stream->request_size += size;
  }
  return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *context) {
  (void)context;
  if (!(frame->hd.flags & NGHTTP2_FLAG_END_STREAM)) return 0;
  if (frame->hd.type != NGHTTP2_DATA && frame->hd.type != NGHTTP2_HEADERS) return 0;
  struct stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
  if (stream) end_request(stream);
  return 0;
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t code, void *context) {
  (void)code, (void)context;
  struct stream *stream = nghttp2_session_get_stream_user_data(session, id);
  if (!stream) return 0;
  if (stream->at_gate) leave_gate(stream);
  free(stream);
  return 0;
}

static nghttp2_session_callbacks *callbacks;
static nghttp2_option *options;

static void accept_connection(int listener) {
  int fd = accept(listener, NULL, NULL);
  if (fd < 0) return;
  int slot = 0, on = 1;
  while (slot < CONNECTIONS && connections[slot]) slot++;
  struct connection *connection = slot < CONNECTIONS ? calloc(1, sizeof *connection) : NULL;
  if (!connection || nghttp2_session_server_new2(&connection->session, callbacks, connection, options) != 0) {
    free(connection);
    close(fd);
    return;
  }
  fcntl(fd, F_SETFL, O_NONBLOCK);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  connection->fd = fd;
  connections[slot] = connection;
  nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, STREAMS},
                                       {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 4 << 20}};
  nghttp2_submit_settings(connection->session, 0, settings, 2);
  nghttp2_session_set_local_window_size(connection->session, 0, 0, 16 << 20);
}

/* Writes what the session has. Returns false if the connection has ended. */
static bool flush(struct connection *connection) {
  for (;;) {
    while (connection->first < connection->end) {
      ssize_t count =
          write(connection->fd, connection->output + connection->first, connection->end - connection->first);
      if (count < 0) return errno == EAGAIN;
      connection->first += (size_t)count;
    }
    connection->first = connection->end = 0;
    while (connection->end + (32 << 10) < OUTPUT) {
      const uint8_t *data;
      ssize_t count = nghttp2_session_mem_send(connection->session, &data);
      if (count < 0) return false;
      if (count == 0) break;
      memcpy(connection->output + connection->end, data, (size_t)count);
      connection->end += (size_t)count;
    }
    if (connection->end == 0) return true;
  }
}

static bool receive(struct connection *connection) {
  static uint8_t input[256 << 10];
  ssize_t count = read(connection->fd, input, sizeof input);
  if (count < 0) return errno == EAGAIN;
  return count > 0 && nghttp2_session_mem_recv(connection->session, input, (size_t)count) == count;
}

static void end_connection(int slot) {
  struct connection *connection = connections[slot];
  connections[slot] = NULL;
  for (struct stream **link = &gate; *link;)
    if ((*link)->connection == connection) *link = (*link)->next;
    else link = &(*link)->next;
  /* A client that ended early does not count for the next. */
  waiting = 0;
  nghttp2_session_del(connection->session);
  close(connection->fd);
  free(connection);
}

int main(void) {
  signal(SIGPIPE, SIG_IGN);
  for (int index = 0; index < PATTERN; index++) memcpy(pattern + index * ITEM, item, ITEM);
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
  nghttp2_option_new(&options);
  /* Thousands of calls are canceled at once, and thousands of streams are closed that are not kept. */
  nghttp2_option_set_stream_reset_rate_limit(options, STREAMS, STREAMS);
  nghttp2_option_set_no_closed_streams(options, 1);

  int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, CONNECTIONS) != 0 ||
      getsockname(listener, (struct sockaddr *)&address, &size) != 0) {
    perror("server");
    return 1;
  }
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);

  for (;;) {
    struct pollfd polled[CONNECTIONS + 1] = {{listener, POLLIN, 0}};
    int slots[CONNECTIONS + 1], count = 1;
    for (int slot = 0; slot < CONNECTIONS; slot++)
      if (connections[slot]) {
        bool writes = connections[slot]->first < connections[slot]->end;
        slots[count] = slot;
        polled[count++] = (struct pollfd){connections[slot]->fd, writes ? POLLIN | POLLOUT : POLLIN, 0};
      }
    if (poll(polled, (nfds_t)count, -1) < 0) continue;
    if (polled[0].revents) accept_connection(listener);
    for (int index = 1; index < count; index++)
      if (polled[index].revents & (POLLIN | POLLHUP | POLLERR) && !receive(connections[slots[index]]))
        end_connection(slots[index]);
    /* Also those whose calls another connection's has let through. */
    for (int slot = 0; slot < CONNECTIONS; slot++)
      if (connections[slot] && !flush(connections[slot])) end_connection(slot);
  }
}
