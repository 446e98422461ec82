#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

const int csystem_get_lock = F_OFD_GETLK;
const int csystem_set_lock = F_OFD_SETLK;
const int csystem_new_session = POSIX_SPAWN_SETSID;

#ifdef __linux__
int csystem_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int csystem_stream_socket(int family) { return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }

ssize_t csystem_send(int socket, const void *bytes, size_t count) { return send(socket, bytes, count, MSG_NOSIGNAL); }
#else
/* A program that another thread starts at the same time may inherit the descriptors. */
int csystem_pipe(int ends[2]) {
  if (pipe(ends) != 0) return -1;
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  return 0;
}

int csystem_stream_socket(int family) {
  int made = socket(family, SOCK_STREAM, 0);
  if (made < 0) return -1;
  fcntl(made, F_SETFD, FD_CLOEXEC);
  fcntl(made, F_SETFL, O_NONBLOCK);
  int without_signal = 1;
  setsockopt(made, SOL_SOCKET, SO_NOSIGPIPE, &without_signal, sizeof without_signal);
  return made;
}

ssize_t csystem_send(int socket, const void *bytes, size_t count) { return send(socket, bytes, count, 0); }
#endif

extern char **environ;
char **csystem_environment(void) { return environ; }

uintptr_t csystem_start_thread(void *(*body)(void *), void *context) {
  pthread_t thread;
  errno = pthread_create(&thread, NULL, body, context);
  return errno == 0 ? (uintptr_t)thread : 0;
}

void csystem_join(uintptr_t thread) { pthread_join((pthread_t)thread, NULL); }
void csystem_detach(uintptr_t thread) { pthread_detach((pthread_t)thread); }

void csystem_give_back_memory(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}
