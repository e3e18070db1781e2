/* Files. A file is written beside its place and renamed when it is whole and on the disk, so that a reader
 * never sees half of one and a failure leaves the old one alone. */
#ifndef R4_BASE_FILE_H
#define R4_BASE_FILE_H

#include <stdint.h>
#include <stdio.h>

#include "base/text.h"

/* A file to be read, in bytes; NULL and a message for what is not a plain file: a folder, and pipes and devices, which
 * have no end. Every reader opens its files here. */
FILE *file_open(const char *path, r4_error *e);

/* The whole file in new memory (r4_mem_free), with a zero byte after the last. Files above limit bytes are
 * refused. */
r4_status file_read(const char *path, size_t limit, uint8_t **data, size_t *size, r4_error *e);

/* A file to be written in its place, made where it is missing: its descriptor, or -1 and a message. how: O_WRONLY or
 * O_RDWR. A folder may come from somebody else: what is a link there would lead anywhere, and is refused. */
int file_open_in_place(const char *path, int how, r4_error *e);

struct file_writer {
  FILE *f; /* write here */
  char *path, *beside;
};

r4_status file_begin(struct file_writer *w, const char *path, r4_error *e);
/* Makes the file appear under its name; an error of any write before is reported here. Frees w. */
r4_status file_end(struct file_writer *w, r4_error *e);
/* Removes what was written. Frees w. */
void file_abandon(struct file_writer *w);

r4_status file_write(const char *path, const void *data, size_t size, r4_error *e);
/* All of a text, which is empty then. */
r4_status file_write_text(const char *path, struct text *t, r4_error *e);

bool file_exists(const char *path);
bool file_exists_in(const char *folder, const char *name); /* false also when out of memory */
bool file_is_folder(const char *path);
r4_status file_refuse_link(const char *path, r4_error *e); /* R4_E_IO for a link where a folder is expected */
/* The folder and those above it, where missing. */
r4_status file_make_folder(const char *path, r4_error *e);
bool file_leads_out(const char *name); /* the path is absolute, or goes up by ".." */
/* R4_E_IO unless folder/name is in folder: no absolute path, no "..", and no link that leads out. */
r4_status file_check_inside(const char *folder, const char *name, r4_error *e);
/* "folder/name" in new memory, or NULL and an error. */
char *file_join(const char *folder, const char *name, r4_error *e);

/* Paths that exist, in new memory; NULL if they do not, or when out of memory. Absolute: without links, but for the
 * last part, which is kept. Relative: the way to path from a folder. */
char *file_absolute(const char *path);
char *file_relative(const char *folder, const char *path);

#endif
