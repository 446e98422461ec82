#include "CYAML.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct cyaml_reader {
  yaml_parser_t parser;
  yaml_event_t event;
  size_t documents;
};

cyaml_reader *cyaml_open(const uint8_t *text, size_t count) {
  cyaml_reader *reader = calloc(1, sizeof *reader);
  if (reader == NULL) return NULL;
  if (!yaml_parser_initialize(&reader->parser)) {
    free(reader);
    return NULL;
  }
  yaml_parser_set_input_string(&reader->parser, text, count);
  return reader;
}

void cyaml_close(cyaml_reader *reader) {
  yaml_event_delete(&reader->event);
  yaml_parser_delete(&reader->parser);
  free(reader);
}

static cyaml_event failure(const char *problem, yaml_mark_t place) {
  if (problem == NULL) problem = "out of memory";
  return (cyaml_event){
      .kind = CYAML_ERROR,
      .text = (const uint8_t *)problem,
      .count = strlen(problem),
      .line = place.line + 1,
      .column = place.column + 1};
}

static cyaml_event value(const yaml_event_t *event, cyaml_kind kind, const yaml_char_t *anchor) {
  return (cyaml_event){
      .kind = kind,
      .anchor = (const char *)anchor,
      .line = event->start_mark.line + 1,
      .column = event->start_mark.column + 1};
}

cyaml_event cyaml_next(cyaml_reader *reader) {
  while (true) {
    yaml_event_t *event = &reader->event;
    yaml_event_delete(event);
    if (!yaml_parser_parse(&reader->parser, event)) {
      return failure(reader->parser.problem, reader->parser.problem_mark);
    }
    switch (event->type) {
      case YAML_DOCUMENT_START_EVENT:
        if (reader->documents++ > 0) return failure("a second document", event->start_mark);
        continue;
      case YAML_SCALAR_EVENT: {
        cyaml_event found = value(event, CYAML_SCALAR, event->data.scalar.anchor);
        found.text = event->data.scalar.value;
        found.count = event->data.scalar.length;
        found.is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        return found;
      }
      case YAML_SEQUENCE_START_EVENT: return value(event, CYAML_LIST, event->data.sequence_start.anchor);
      case YAML_MAPPING_START_EVENT: return value(event, CYAML_MAP, event->data.mapping_start.anchor);
      case YAML_ALIAS_EVENT: return value(event, CYAML_ALIAS, event->data.alias.anchor);
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT: return value(event, CYAML_END, NULL);
      case YAML_STREAM_END_EVENT:
      case YAML_NO_EVENT: return value(event, CYAML_DONE, NULL);
      default: continue;
    }
  }
}
