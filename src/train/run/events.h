/* Event files of TensorBoard: records of TFRecord with messages of protocol buffers in them. */
#ifndef R4_TRAIN_RUN_EVENTS_H
#define R4_TRAIN_RUN_EVENTS_H

#include "tensor/foreign/wire.h"

/* CRC-32C (Castagnoli). */
uint32_t events_crc(const void *bytes, size_t n);

/* Begins an event, a message, with its time in seconds since 1970; then what it holds. */
void event_begin(struct wire *v, double time);
void event_step(struct wire *v, int64_t step);
void event_version(struct wire *v);                              /* of the file: its first event */
void event_scalar(struct wire *v, const char *tag, float value); /* adds one value */
/* The event as a record (r4_mem_free), and frees v. NULL when out of memory. */
uint8_t *event_record(struct wire *v, size_t *size);

#endif
