/* The events of a YAML text, as libyaml reads them. */
#ifndef CYAML_H
#define CYAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
  CYAML_SCALAR,
  CYAML_LIST,
  CYAML_MAP,
  /* The end of a list or of a map. */
  CYAML_END,
  /* Another place of the value with this anchor. */
  CYAML_ALIAS,
  /* The end of the text. */
  CYAML_DONE,
  /* The text is not YAML, or out of memory. */
  CYAML_ERROR,
} cyaml_kind;

typedef struct {
  cyaml_kind kind;
  /* The text of a scalar, or the problem of an error; valid until the next event. */
  const uint8_t *text;
  size_t count;
  /* The anchor; NULL for none. */
  const char *anchor;
  /* Whether a scalar has no quotes. */
  bool is_plain;
  /* The place, each from 1. */
  size_t line;
  size_t column;
} cyaml_event;

typedef struct cyaml_reader cyaml_reader;

/* Starts to read a text, which must live as long as the reader; NULL if out of memory. */
cyaml_reader *cyaml_open(const uint8_t *text, size_t count);

/* The next event. A second document is an error. After CYAML_DONE and CYAML_ERROR there is no other one. */
cyaml_event cyaml_next(cyaml_reader *reader);

void cyaml_close(cyaml_reader *reader);

#endif
