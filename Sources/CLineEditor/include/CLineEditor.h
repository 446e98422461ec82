/* libedit behind an interface that never waits: characters in, what came of them out.
 *
 * libedit edits a line, keeps the history and searches it, with the keys and the ~/.editrc that its other programs
 * have. It does not draw: what a session shows comes in between, so the terminal is the caller's. libedit gets a
 * terminal of its own, which nobody sees.
 *
 * libedit asks for characters in the midst of its work (in a search, for a quoted character). It therefore works on
 * a thread of its own, which runs only while a function here waits for it; so all of this belongs to one thread, as if
 * there were no other. It is opened with dlopen: a program that does not edit lines starts without it. */
#ifndef CLINE_EDITOR_H
#define CLINE_EDITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cline_editor cline_editor;

/* What came of a character. */
typedef enum {
  CLINE_MORE,         /* nothing to report */
  CLINE_LINE,         /* the line is complete; the next character begins another */
  CLINE_END,          /* the end of input was typed on an empty line, or libedit failed */
  CLINE_INTERRUPT,    /* Ctrl-C; the line as it was is still there to be looked at, the next character begins another */
  CLINE_COMPLETE,     /* the line is to be completed at its cursor */
  CLINE_CLEAR_SCREEN, /* the screen is to be cleared */
} cline_event;

/* The line, in characters of Unicode; valid until the next call. */
typedef struct {
  const uint32_t *text;
  size_t count;
  size_t cursor;
} cline_text;

/* Loads libedit. NULL on success, else the reason, which stays valid. */
const char *cline_load(void);

/* An editor with room for `history_size` lines; NULL when there is no memory, or no terminal to be had for it. */
cline_editor *cline_create(int history_size);
void cline_destroy(cline_editor *editor);

/* Feeds a character of Unicode. */
cline_event cline_feed(cline_editor *editor, uint32_t character);

/* The line as it stands. */
cline_text cline_line(cline_editor *editor);

/* After CLINE_COMPLETE, before the next character: replaces `count` characters before the cursor by `text`, in UTF-8. */
void cline_replace(cline_editor *editor, size_t count, const char *text);

/* Adds a line, in UTF-8, as the newest of the history. */
void cline_remember(cline_editor *editor, const char *line);

/* Whether the terminal that TERM names has the control sequences of ECMA-48 that nearly all have. */
bool cline_is_terminal_known(cline_editor *editor);

/* The columns of a character on a terminal, by the locale: 0, 1 or 2; -1 when it cannot be shown. */
int cline_width(uint32_t character);

#endif
