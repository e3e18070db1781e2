/* log.jsonl: one JSON object a line, written at once. A run that goes on from a checkpoint cuts off what came after it,
 * so that the log is as if the run had never stopped. */
#ifndef R4_TRAIN_RUN_LOG_H
#define R4_TRAIN_RUN_LOG_H

#include "base/json.h"

struct log {
  char *path;
  int file;
  int64_t size; /* bytes of whole lines */
};

/* Keeps the first size bytes of the file and goes on from there; 0: a new log. */
r4_status log_open(struct log *l, const char *path, int64_t size, r4_error *e);
/* Takes the text of w, which has written one object, as the next line. After a failure the log is as before. */
r4_status log_add(struct log *l, struct json_writer *w, r4_error *e);
/* The same with any bytes. */
r4_status log_append(struct log *l, const void *bytes, size_t size, r4_error *e);
/* All lines are on the disk; *size is what a checkpoint must keep for log_open. */
r4_status log_settle(struct log *l, int64_t *size, r4_error *e);
void log_close(struct log *l);

/* Hands each line to sink, in order. A last line that is not whole, as a killed run leaves it, is left out. */
typedef r4_status log_sink(void *context, const struct js *line, r4_error *e);
r4_status log_read(const char *path, log_sink *sink, void *context, r4_error *e);

#endif
