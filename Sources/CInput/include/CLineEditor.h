/* libedit with an interface that never blocks: it consumes characters and reports events.
 *
 * libedit edits a line, and keeps and searches the history, with the keys and the ~/.editrc of other programs that
 * use it. It does not draw, because a session prints between key presses: the caller owns the terminal. libedit
 * gets an invisible terminal of its own.
 *
 * libedit reads characters in the middle of its work (in a search, for a quoted character). So it runs on its own
 * thread, but only while a function here waits for it; the functions belong to one thread. It is opened with
 * dlopen: a program that does not edit lines starts without it. */
#ifndef CLINE_EDITOR_H
#define CLINE_EDITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cline_editor cline_editor;

/* The event after a character. */
typedef enum {
  CLINE_MORE,         /* nothing to report */
  CLINE_LINE,         /* the line is complete; the next character starts another */
  CLINE_END,          /* end of input on an empty line, or libedit failed */
  CLINE_INTERRUPT,    /* Ctrl-C; the line can still be read, the next character starts another */
  CLINE_COMPLETE,     /* complete the line at its cursor */
  CLINE_CLEAR_SCREEN, /* clear the screen */
  CLINE_UNDO,         /* undo the last change of the line */
  CLINE_LAST_WORD,    /* insert the last word of an earlier line */
  CLINE_EDIT,         /* edit the line in an editor */
  CLINE_SEARCH,       /* search the history */
} cline_event;

/* The line, in Unicode characters; valid until the next call. */
typedef struct {
  const uint32_t *text;
  size_t count;
  size_t cursor;
} cline_text;

/* Loads libedit. Returns NULL on success, else the reason, which stays valid. */
const char *cline_load(void);

/* Makes an editor with a history of `history_size` lines; NULL if out of memory or terminals. */
cline_editor *cline_create(int history_size);
void cline_destroy(cline_editor *editor);

/* Passes a Unicode character to the editor. */
cline_event cline_feed(cline_editor *editor, uint32_t character);

/* The current line. */
cline_text cline_line(cline_editor *editor);

/* After an event of a key, before the next character: replaces `count` characters before the cursor by `text`, in
 * UTF-8. */
void cline_replace(cline_editor *editor, size_t count, const char *text);

/* As above: makes `text` the line, with the cursor at this character. The line must have begun: it is not empty, or a key that
 * was reported is part of it. */
void cline_set(cline_editor *editor, const char *text, size_t cursor);

/* As above: moves the cursor by `count` characters. */
void cline_move(cline_editor *editor, int count);

/* Adds a line, in UTF-8, to the history. */
void cline_remember(cline_editor *editor, const char *line);

/* Whether the terminal of TERM has the common control sequences of ECMA-48. */
bool cline_is_terminal_known(cline_editor *editor);

/* The columns of a character on a terminal, by the locale: 0, 1 or 2; -1 if it is not printable. */
int cline_width(uint32_t character);

#endif
