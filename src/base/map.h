/* A file as memory that nobody writes: its pages are read when they are looked at, the kernel may drop them again, and
 * all processes of a machine look at one copy. The file must stay as it is meanwhile: whoever renews it puts another
 * one in its place (base/file.h). */
#ifndef R4_BASE_MAP_H
#define R4_BASE_MAP_H

#include "base/file.h"

struct map {
  _Atomic long references;
  uint8_t *bytes; /* never written */
  size_t size;
  char *path, *seen; /* seen: what tells this file from any that was or will be in its place */
  bool only_read;    /* nothing is noted beside it: base/map_notes.h */
};

/* One reference, or NULL and an error. A file without bytes cannot be mapped. */
struct map *map_open(const char *path, r4_error *e);
struct map *map_share(struct map *m); /* another reference; NULL stays NULL */
void map_drop(struct map *m);

/* These bytes will be looked at soon: the disk may begin. */
void map_will_need(const struct map *m, const void *from, size_t size);

/* Room on the disk for a file that is being written (file_begin), as memory: what is written there is in the file. So
 * it may be larger than the memory of the machine. NULL and an error, R4_E_IO, where the disk has no room. */
uint8_t *map_room(const struct file_writer *w, size_t size, r4_error *e);
void map_room_close(uint8_t *room, size_t size);

/* Memory that grows and is in a file without a name, which is gone with it. Zeros are a pile that was not opened. */
struct map_pile {
  uint8_t *bytes; /* NULL until it grows */
  size_t size;
  int file;
  char *folder; /* NULL: not open */
};

r4_status map_pile_open(struct map_pile *p, const char *folder, r4_error *e);
/* To size bytes, of which the new ones are zero; bytes may move. On failure it stays. */
r4_status map_pile_grow(struct map_pile *p, size_t size, r4_error *e);
void map_pile_clear(struct map_pile *p);

#endif
