/* The least that libcurl needs for a bidirectional gRPC call: each line of standard input is sent as a
 * demo.v1.ChatRequest, and for each answer a line is printed. scripts/bench measures rpcurl against it.
 *
 * usage: bench-pingpong URL */
#include <curl/curl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char pending[1024];
static size_t pending_size;
static int paused, finished;

static size_t fill(char *data, size_t size, size_t count, void *context) {
  (void)context;
  if (pending_size == 0) {
    if (finished) return 0;
    paused = 1;
    return CURL_READFUNC_PAUSE;
  }
  size_t taken = pending_size < size * count ? pending_size : size * count;
  memcpy(data, pending, taken);
  pending_size -= taken;
  memmove(pending, pending + taken, pending_size);
  return taken;
}

static size_t take(char *data, size_t size, size_t count, void *context) {
  (void)context;
  (void)data;
  /* One answer comes in one piece, as it is awaited before the next message is sent. */
  if (write(1, "answer\n", 7) != 7) return 0;
  return size * count;
}

static int ended;
static size_t header(char *data, size_t size, size_t count, void *context) {
  (void)context;
  if (size * count > 11 && memcmp(data, "grpc-status", 11) == 0) ended = 1;
  return size * count;
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURLM *multi = curl_multi_init();
  CURL *easy = curl_easy_init();
  struct curl_slist *headers = NULL;
  const char *lines[] = {"content-type: application/grpc", "te: trailers", "Expect:", "Transfer-Encoding:"};
  for (int i = 0; i < 4; i++) headers = curl_slist_append(headers, lines[i]);
  curl_easy_setopt(easy, CURLOPT_URL, argv[1]);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE);
  curl_easy_setopt(easy, CURLOPT_POST, 1L);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(easy, CURLOPT_READFUNCTION, fill);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, header);
  curl_multi_add_handle(multi, easy);
  int running = 1;
  while (running && !ended) {
    curl_multi_perform(multi, &running);
    struct curl_waitfd input = {.fd = 0, .events = CURL_WAIT_POLLIN};
    curl_multi_poll(multi, &input, finished ? 0 : 1, 1000, NULL);
    if (!(input.revents & CURL_WAIT_POLLIN)) continue;
    char line[256];
    ssize_t size = read(0, line, sizeof line);
    if (size <= 0) {
      finished = 1;
    } else {
      char text = (char)(size - 1);
      char envelope[7] = {0, 0, 0, 0, (char)(text + 2), 0x0A, text};
      memcpy(pending + pending_size, envelope, 7);
      memcpy(pending + pending_size + 7, line, (size_t)text);
      pending_size += 7 + (size_t)text;
    }
    if (paused) {
      paused = 0;
      curl_easy_pause(easy, CURLPAUSE_CONT);
    }
  }
  return 0;
}
