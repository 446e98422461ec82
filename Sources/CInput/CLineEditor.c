#define _GNU_SOURCE /* ptsname_r, wcwidth */
#include "CLineEditor.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <histedit.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

_Static_assert(sizeof(wchar_t) == sizeof(uint32_t), "wide characters must be Unicode characters");

/* libedit's functions by their own names, filled by cline_load(). */
#define EACH_FUNCTION(X)                                                                                       \
  X(el_init_fd)                                                                                                \
  X(el_end)                                                                                                    \
  X(el_set)                                                                                                    \
  X(el_wset)                                                                                                   \
  X(el_get)                                                                                                    \
  X(el_source)                                                                                                 \
  X(el_wgets)                                                                                                  \
  X(el_wline)                                                                                                  \
  X(el_cursor)                                                                                                 \
  X(el_deletestr)                                                                                              \
  X(el_insertstr)                                                                                              \
  X(history_winit)                                                                                             \
  X(history_wend)                                                                                              \
  X(history_w)

static struct {
#define MEMBER(name) __typeof__(&name) name;
  EACH_FUNCTION(MEMBER)
} lib;

static const char *resolve(void *library) {
  static char error[80];
#define RESOLVE(name)                                                                                          \
  *(void **)&lib.name = dlsym(library, #name);                                                                 \
  if (!lib.name) {                                                                                             \
    snprintf(error, sizeof error, "libedit lacks the function " #name);                                           \
    return error;                                                                                              \
  }
  EACH_FUNCTION(RESOLVE)
  return NULL;
}

const char *cline_load(void) {
  static bool done;
  static const char *error;
  if (done) return error;
  done = true;
  void *library = dlopen("libedit.so.2", RTLD_LAZY | RTLD_LOCAL);
  error = library ? resolve(library) : dlerror();
  return error;
}

struct cline_editor {
  EditLine *line;
  HistoryW *history;
  FILE *nowhere;
  int master, terminal; /* libedit's own terminal */
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t turned;
  bool is_edited; /* which side runs: libedit's thread, or the caller */
  bool has_character, is_closing;
  uint32_t character;
  cline_event event;
  bool is_interrupted;
};

/* libedit's thread */

/* Reports `event`, and waits for a character. Requires the lock. */
static void report(cline_editor *editor, cline_event event) {
  editor->event = event;
  editor->is_edited = false;
  pthread_cond_signal(&editor->turned);
  while (!editor->is_edited) pthread_cond_wait(&editor->turned, &editor->lock);
}

static cline_editor *editor_of(EditLine *line) {
  void *editor = NULL;
  lib.el_get(line, EL_CLIENTDATA, &editor);
  return editor;
}

static int next_character(EditLine *line, wchar_t *character) {
  cline_editor *editor = editor_of(line);
  if (!editor->has_character && !editor->is_closing) report(editor, CLINE_MORE);
  if (editor->is_closing) return -1;
  *character = (wchar_t)editor->character;
  editor->has_character = false;
  return 1;
}

/* Keys that the caller handles: each reports an event. */
#define EACH_REPORT(X)                                                                                         \
  X(complete, CLINE_COMPLETE)                                                                                  \
  X(clear_screen, CLINE_CLEAR_SCREEN)                                                                          \
  X(undo, CLINE_UNDO)                                                                                          \
  X(last_word, CLINE_LAST_WORD)                                                                                \
  X(edit_text, CLINE_EDIT)                                                                                     \
  X(search, CLINE_SEARCH)
#define REPORT(name, event)                                                                                    \
  static unsigned char name(EditLine *line, int character) {                                                   \
    (void)character;                                                                                           \
    report(editor_of(line), event);                                                                            \
    return CC_REFRESH;                                                                                         \
  }
EACH_REPORT(REPORT)

static unsigned char interrupt(EditLine *line, int character) {
  (void)character;
  editor_of(line)->is_interrupted = true;
  return CC_EOF;
}

static char *no_prompt(EditLine *line) {
  (void)line;
  static char empty[] = "";
  return empty;
}

static void *edit(void *context) {
  cline_editor *editor = context;
  pthread_mutex_lock(&editor->lock);
  while (!editor->is_edited) pthread_cond_wait(&editor->turned, &editor->lock);
  while (!editor->is_closing) {
    int count = 0;
    editor->is_interrupted = false;
    const wchar_t *line = lib.el_wgets(editor->line, &count);
    if (editor->is_closing) break;
    cline_event event = editor->is_interrupted ? CLINE_INTERRUPT : line ? CLINE_LINE : CLINE_END;
    report(editor, event);
  }
  editor->is_edited = false;
  pthread_cond_signal(&editor->turned);
  pthread_mutex_unlock(&editor->lock);
  return NULL;
}

/* The caller's thread */

/* Runs libedit until it reports an event. */
static void turn(cline_editor *editor) {
  pthread_mutex_lock(&editor->lock);
  editor->is_edited = true;
  pthread_cond_signal(&editor->turned);
  while (editor->is_edited) pthread_cond_wait(&editor->turned, &editor->lock);
  pthread_mutex_unlock(&editor->lock);
}

cline_event cline_feed(cline_editor *editor, uint32_t character) {
  editor->character = character;
  editor->has_character = true;
  turn(editor);
  return editor->event;
}

cline_text cline_line(cline_editor *editor) {
  const LineInfoW *info = lib.el_wline(editor->line);
  return (cline_text){
      (const uint32_t *)info->buffer, (size_t)(info->lastchar - info->buffer), (size_t)(info->cursor - info->buffer)};
}

void cline_replace(cline_editor *editor, size_t count, const char *text) {
  if (count > 0) lib.el_deletestr(editor->line, (int)count);
  if (*text) lib.el_insertstr(editor->line, text);
}

void cline_move(cline_editor *editor, int count) { lib.el_cursor(editor->line, count); }

void cline_set(cline_editor *editor, const char *text, size_t cursor) {
  cline_text before = cline_line(editor);
  lib.el_cursor(editor->line, (int)(before.count - before.cursor));
  cline_replace(editor, before.count, text);
  size_t count = cline_line(editor).count;
  if (cursor < count) lib.el_cursor(editor->line, -(int)(count - cursor));
}

void cline_remember(cline_editor *editor, const char *line) {
  size_t size = mbstowcs(NULL, line, 0);
  if (size == (size_t)-1) return;
  wchar_t *wide = malloc((size + 1) * sizeof *wide);
  if (!wide) return;
  mbstowcs(wide, line, size + 1);
  HistEventW event;
  lib.history_w(editor->history, &event, H_ENTER, wide);
  free(wide);
}

bool cline_is_terminal_known(cline_editor *editor) {
  char name[] = "ce";
  char *sequence = NULL;
  /* The sequence that clears to the end of the line. */
  if (lib.el_get(editor->line, EL_GETTC, name, &sequence) != 0 || !sequence) return false;
  return strncmp(sequence, "\033[K", 3) == 0;
}

/* Opens a terminal for libedit alone, which sets its modes. */
static bool open_terminal(cline_editor *editor) {
  char name[64];
  editor->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (editor->master < 0 || grantpt(editor->master) != 0 || unlockpt(editor->master) != 0) return false;
  if (ptsname_r(editor->master, name, sizeof name) != 0) return false;
  editor->terminal = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
  struct winsize size = {.ws_row = 24, .ws_col = 80};
  return editor->terminal >= 0 && ioctl(editor->terminal, TIOCSWINSZ, &size) == 0;
}

/* The keys of the vi mode that ~/.editrc selects, which replaces those that were bound before. */
static void bind_vi_keys(EditLine *line) {
  const char *mode = NULL;
  if (lib.el_get(line, EL_EDITOR, &mode) != 0 || !mode || strcmp(mode, "vi") != 0) return;
  lib.el_set(line, EL_BIND, "^R", "rpcurl-search", NULL);
  lib.el_set(line, EL_BIND, "-a", "^R", "rpcurl-search", NULL);
  /* libedit's own function waits for an editor on this terminal. */
  lib.el_set(line, EL_BIND, "-a", "v", "rpcurl-edit", NULL);
}

static bool prepare(cline_editor *editor, int history_size) {
  if (!open_terminal(editor)) return false;
  editor->nowhere = fopen("/dev/null", "r+e");
  if (!editor->nowhere) return false;
  FILE *nowhere = editor->nowhere;
  editor->line =
      lib.el_init_fd("rpcurl", nowhere, nowhere, nowhere, editor->terminal, editor->terminal, fileno(nowhere));
  editor->history = lib.history_winit();
  if (!editor->line || !editor->history) return false;
  HistEventW event;
  lib.history_w(editor->history, &event, H_SETSIZE, history_size);
  lib.history_w(editor->history, &event, H_SETUNIQUE, 1);
  EditLine *line = editor->line;
  lib.el_set(line, EL_CLIENTDATA, editor);
  lib.el_set(line, EL_SIGNAL, 0);
  lib.el_set(line, EL_PROMPT, no_prompt);
  lib.el_wset(line, EL_HIST, lib.history_w, editor->history);
  lib.el_set(line, EL_EDITOR, "emacs");
  lib.el_set(line, EL_GETCFN, next_character);
  lib.el_set(line, EL_ADDFN, "rpcurl-complete", "Complete", complete);
  lib.el_set(line, EL_ADDFN, "rpcurl-clear-screen", "Clear the screen", clear_screen);
  lib.el_set(line, EL_ADDFN, "rpcurl-undo", "Undo the last change", undo);
  lib.el_set(line, EL_ADDFN, "rpcurl-last-word", "Insert the last word of an earlier line", last_word);
  lib.el_set(line, EL_ADDFN, "rpcurl-edit", "Edit the input in an editor", edit_text);
  lib.el_set(line, EL_ADDFN, "rpcurl-search", "Search the history", search);
  lib.el_set(line, EL_ADDFN, "rpcurl-interrupt", "Drop the line", interrupt);
  /* Keys that libedit does not bind, but other editors do. */
  static const char *const keys[][2] = {
      {"^R", "rpcurl-search"},           {"^_", "rpcurl-undo"},             {"^X^U", "rpcurl-undo"},
      {"^X^E", "rpcurl-edit"},           {"\033.", "rpcurl-last-word"},     {"\033[1~", "ed-move-to-beg"},     {"\033[4~", "ed-move-to-end"},
      {"\033[7~", "ed-move-to-beg"},     {"\033[8~", "ed-move-to-end"},     {"\033[H", "ed-move-to-beg"},
      {"\033[F", "ed-move-to-end"},      {"\033OH", "ed-move-to-beg"},      {"\033OF", "ed-move-to-end"},
      {"\033[3~", "ed-delete-next-char"}, {"\033[1;5C", "em-next-word"},    {"\033[1;5D", "ed-prev-word"},
      {"\033[1;3C", "em-next-word"},     {"\033[1;3D", "ed-prev-word"},     {"^W", "ed-delete-prev-word"},
  };
  for (size_t index = 0; index < sizeof keys / sizeof *keys; index++)
    lib.el_set(line, EL_BIND, keys[index][0], keys[index][1], NULL);
  lib.el_source(line, NULL);
  lib.el_set(line, EL_EDITMODE, 1);
  lib.el_set(line, EL_BIND, "^I", "rpcurl-complete", NULL);
  lib.el_set(line, EL_BIND, "^L", "rpcurl-clear-screen", NULL);
  lib.el_set(line, EL_BIND, "^C", "rpcurl-interrupt", NULL);
  bind_vi_keys(line);
  return true;
}

/* Starts libedit's thread, which handles no signals. */
static bool start(cline_editor *editor) {
  pthread_mutex_init(&editor->lock, NULL);
  pthread_cond_init(&editor->turned, NULL);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = pthread_create(&editor->thread, NULL, edit, editor);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error == 0;
}

static void release(cline_editor *editor) {
  if (editor->line) lib.el_end(editor->line);
  if (editor->history) lib.history_wend(editor->history);
  if (editor->nowhere) fclose(editor->nowhere);
  if (editor->terminal >= 0) close(editor->terminal);
  if (editor->master >= 0) close(editor->master);
  free(editor);
}

cline_editor *cline_create(int history_size) {
  cline_editor *editor = calloc(1, sizeof *editor);
  if (!editor) return NULL;
  editor->terminal = -1;
  editor->master = -1;
  if (prepare(editor, history_size) && start(editor)) return editor;
  release(editor);
  return NULL;
}

void cline_destroy(cline_editor *editor) {
  editor->is_closing = true;
  turn(editor);
  pthread_join(editor->thread, NULL);
  pthread_cond_destroy(&editor->turned);
  pthread_mutex_destroy(&editor->lock);
  release(editor);
}

int cline_width(uint32_t character) { return wcwidth((wchar_t)character); }
