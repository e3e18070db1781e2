/* Small folders of images for tests. */
#ifndef FOLDER_MAKE_H
#define FOLDER_MAKE_H

#include "check.h"

/* A new empty folder, which folder_remove removes with all that is in it. */
char *folder_new(void);
void folder_remove(char *folder);

/* folder/name, with the folders above it. The memory of path_in is used again by the eighth call after. */
const char *path_in(const char *folder, const char *name);
void put_text(const char *folder, const char *name, const char *text);
/* A PNG: the left half has the bytes left, the right half right, channels of each. */
void put_image(const char *folder, const char *name, size_t height, size_t width, size_t channels,
               const uint8_t *left, const uint8_t *right);
/* The same in grey. */
void put_grey(const char *folder, const char *name, size_t height, size_t width, uint8_t left, uint8_t right);

/* Opens it, or fails the test. */
r4_data *folder_opened(const char *folder, const r4_data_options *options);
/* It is refused, and the error names the folder and has this text. */
void folder_refused(const char *folder, const r4_data_options *options, const char *because);

#endif
