/* The least that a unary gRPC call over h2c needs: the bytes of a connection with one request are sent at once, and what the server
 * sends is read until the end of the response. scripts/bench measures rpcurl against it.
 *
 * usage: bench-floor PORT PATH MESSAGE (less than 100 bytes each) */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static uint8_t request[1024];
static size_t size;

static void add(const void *bytes, size_t count) {
  memcpy(request + size, bytes, count);
  size += count;
}

static void add_text(const char *text) { /* a string of HPACK (RFC 7541, section 5.2) */
  request[size++] = (uint8_t)strlen(text);
  add(text, strlen(text));
}

static void add_frame(uint8_t type, uint8_t flags, uint8_t stream, size_t length) {
  uint8_t head[9] = {0, 0, (uint8_t)length, type, flags, 0, 0, 0, stream};
  add(head, sizeof head);
}

static void read_whole(int server, uint8_t *bytes, size_t count) {
  while (count > 0) {
    ssize_t got = read(server, bytes, count);
    if (got <= 0) exit(1);
    bytes += got;
    count -= (size_t)got;
  }
}

int main(int count, char **arguments) {
  if (count != 4 || strlen(arguments[2]) > 99 || strlen(arguments[3]) > 99) return 2;
  add("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 24);
  add_frame(4, 0, 0, 0);
  size_t start = size;
  add_frame(1, 4, 1, 0);
  add("\x83\x86\x04", 3); /* :method POST, :scheme http, :path */
  add_text(arguments[2]);
  request[size++] = 0x01; /* :authority */
  add_text("localhost");
  add("\x0f\x10", 2); /* content-type */
  add_text("application/grpc");
  request[size++] = 0x00;
  add_text("te");
  add_text("trailers");
  request[start + 2] = (uint8_t)(size - start - 9);
  size_t length = strlen(arguments[3]);
  add_frame(0, 1, 1, length + 5);
  uint8_t envelope[5] = {0, 0, 0, 0, (uint8_t)length};
  add(envelope, sizeof envelope);
  add(arguments[3], length);

  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(arguments[1]))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int server = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (connect(server, (struct sockaddr *)&address, sizeof address) != 0) return 1;
  if (write(server, request, size) != (ssize_t)size) return 1;
  for (;;) {
    static uint8_t content[1 << 16];
    uint8_t head[9];
    read_whole(server, head, sizeof head);
    size_t length = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
    if (length > sizeof content) return 1;
    read_whole(server, content, length);
    /* HEADERS or DATA with END_STREAM. */
    if (head[3] <= 1 && head[4] & 1 && head[8] == 1) return 0;
  }
}
