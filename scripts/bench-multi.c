/* The least that libcurl needs for many unary gRPC calls on one connection: its handles are used again, and each response is read.
 * scripts/bench measures rpcurl against it.
 *
 * usage: bench-multi URL FILE CALLS AT-ONCE */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

static char body[1024];

static size_t take(char *data, size_t size, size_t count, void *context) {
  (void)data;
  (void)context;
  return size * count;
}

static CURL *begin(const char *url, long size, struct curl_slist *headers) {
  CURL *call = curl_easy_init();
  curl_easy_setopt(call, CURLOPT_URL, url);
  curl_easy_setopt(call, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE);
  curl_easy_setopt(call, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(call, CURLOPT_POSTFIELDS, body);
  curl_easy_setopt(call, CURLOPT_POSTFIELDSIZE, size);
  curl_easy_setopt(call, CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(call, CURLOPT_HEADERFUNCTION, take);
  return call;
}

int main(int count, char **arguments) {
  FILE *file = count == 5 ? fopen(arguments[2], "rb") : NULL;
  if (!file) return 2;
  size_t size = fread(body, 1, sizeof body, file);
  long calls = atol(arguments[3]), at_once = atol(arguments[4]), begun = 0, ended = 0;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  struct curl_slist *headers = curl_slist_append(NULL, "content-type: application/grpc");
  headers = curl_slist_append(headers, "te: trailers");
  CURLM *multi = curl_multi_init();
  /* The first call makes the connection that the others share. */
  CURL *call = NULL;
  while (ended < calls) {
    for (; begun < calls && begun - ended < (ended == 0 ? 1 : at_once); begun++) {
      if (!call) call = begin(arguments[1], (long)size, headers);
      curl_multi_add_handle(multi, call);
      call = NULL;
    }
    int running, left;
    curl_multi_perform(multi, &running);
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left)); ended++) {
      if (message->data.result != CURLE_OK) {
        fprintf(stderr, "%s\n", curl_easy_strerror(message->data.result));
        return 1;
      }
      curl_easy_cleanup(call);
      call = message->easy_handle;
      curl_multi_remove_handle(multi, call);
      if (begun == calls) continue;
      curl_multi_add_handle(multi, call);
      call = NULL;
      begun++;
    }
    if (running > 0) curl_multi_poll(multi, NULL, 0, 1000, NULL);
  }
  curl_easy_cleanup(call);
  curl_multi_cleanup(multi);
  return 0;
}
