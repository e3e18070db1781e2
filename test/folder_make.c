#include "folder_make.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "picture/image.h"

char *folder_new(void)
{
  const char *base = getenv("TMPDIR");
  char name[4096];
  snprintf(name, sizeof name, "%s/r4-test-XXXXXX", base && *base ? base : "/tmp");
  assert_non_null(mkdtemp(name));
  return strdup(name);
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *at)
{
  (void)about, (void)kind, (void)at;
  return remove(path);
}

void folder_remove(char *folder)
{
  nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  free(folder);
}

const char *path_in(const char *folder, const char *name)
{
  static char path[8][4096];
  static int next;
  char *to = path[next++ % 8];
  snprintf(to, sizeof *path, "%s/%s", folder, name);
  char *slash = strrchr(to, '/');
  *slash = 0;
  assert_int_equal(file_make_folder(to, NULL), R4_OK);
  *slash = '/';
  return to;
}

void put_text(const char *folder, const char *name, const char *text)
{
  assert_int_equal(file_write(path_in(folder, name), text, strlen(text), NULL), R4_OK);
}

void put_image(const char *folder, const char *name, size_t height, size_t width, size_t channels,
               const uint8_t *left, const uint8_t *right)
{
  struct image image;
  assert_int_equal(image_new(&image, height, width, channels, NULL), R4_OK);
  for (size_t i = 0; i < height * width; i++)
    memcpy(image.pixel + i * channels, i % width < width / 2 ? left : right, channels);
  assert_int_equal(image_write(&image, path_in(folder, name), NULL), R4_OK);
  image_clear(&image);
}

void put_grey(const char *folder, const char *name, size_t height, size_t width, uint8_t left, uint8_t right)
{
  put_image(folder, name, height, width, 1, &left, &right);
}

r4_data *folder_opened(const char *folder, const r4_data_options *options)
{
  r4_error e = {0};
  r4_data *d = r4_data_open(folder, options, &e);
  if (!d) fail_msg("%s", e.text);
  return d;
}

void folder_refused(const char *folder, const r4_data_options *options, const char *because)
{
  r4_error e = {0};
  if (r4_data_open(folder, options, &e)) fail_msg("accepted: %s", because);
  if (!strstr(e.text, because)) fail_msg("%s: no '%s'", e.text, because);
  assert_non_null(strstr(e.text, folder));
}
