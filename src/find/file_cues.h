/* Cues of the files of images: size, compression, height and width, format, quality, and what names begin with. */
#ifndef R4_FIND_FILE_CUES_H
#define R4_FIND_FILE_CUES_H

#include "data/data.h"
#include "data/lint/file_look.h"

/* Whether there are files to look at: the data came from a folder of images at source. */
bool file_cues_work(const r4_data *d, const char *source);
/* Of n examples; r4_mem_free. */
r4_status files_look(const r4_data *d, const char *source, const uint32_t *example, size_t n,
                     struct about_file **to, r4_error *e);

size_t file_cues(void);
bool file_cue_is_name(size_t cue);
float file_cue_of(const struct about_file *f, size_t cue); /* NaN: not known */
/* A short name, and how the files are: "larger (in bytes)", or of one kind if all are alike. */
void file_cue_words(size_t cue, bool same, char name[40], const char **how);

#endif
