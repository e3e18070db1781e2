/* A folder with the four files of MNIST, plain or gzipped: train and t10k, images and labels. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "data/catalog/published.h"
#include "data/format/format.h"
#include "data/format/gzip.h"
#include "data/format/idx.h"
#include "data/format/whole_open.h"

enum { CLASSES = 10, PATH = 4096 };

/* ---- Files ---- */

static const char *const stems[4] = {"train-images", "train-labels", "t10k-images", "t10k-labels"};
static const char *const types[2] = {"idx3-ubyte", "idx1-ubyte"};

/* The path of file k, of stems, under any of its names; false if there is none, and path is the last one tried. */
static bool find(const char *folder, int k, char path[PATH])
{
  static const char *const join[] = {"-", "."}, *const end[] = {"", ".gz"};
  for (int way = 0; way < 4; way++) {
    int n = snprintf(path, PATH, "%s/%s%s%s%s", folder, stems[k], join[way & 1], types[k % 2], end[way >> 1]);
    if (n < PATH && file_exists(path)) return true;
  }
  return false;
}

static r4_status list_files(const char *path, struct names *to, r4_error *e)
{
  char file[PATH];
  r4_status s = R4_OK;
  for (int k = 0; !s && k < 4; k++) {
    find(path, k, file);
    s = names_add(to, file, NULL, e);
  }
  return s;
}

static bool matches(const char *path)
{
  char images[PATH];
  return file_is_folder(path) && find(path, 0, images);
}

/* One of the four, in memory. */
struct member {
  char path[PATH];
  uint8_t *bytes;
  struct idx idx;
};

static r4_status unzip(struct member *m, size_t *size, r4_error *e)
{
  uint8_t *content = NULL;
  r4_status s = gzip_read(m->bytes, *size, m->path, &content, size, e);
  r4_mem_free(m->bytes);
  m->bytes = content;
  return s;
}

static r4_status read_member(const char *folder, int k, struct member *m, r4_error *e)
{
  size_t size = 0;
  find(folder, k, m->path);
  r4_status s = file_read(m->path, SIZE_MAX / 4, &m->bytes, &size, e);
  if (!s && gzip_is(m->bytes, size)) s = unzip(m, &size, e);
  if (!s) s = idx_parse(m->bytes, size, m->path, &m->idx, e);
  if (s) return s;
  int rank = k % 2 ? 1 : 3;
  if (m->idx.type != ARRAY_U8 || m->idx.rank != rank)
    return r4_fail(e, R4_E_PARSE, "%s: byte 2: type %d with %d dimensions, expected type 8 (uint8) with %d",
                   m->path, m->bytes[2], m->idx.rank, rank);
  return R4_OK;
}

/* ---- The data set ---- */

static r4_status check_sizes(const struct member m[4], r4_error *e)
{
  const int64_t *train = m[0].idx.dim, *test = m[2].idx.dim;
  for (int k = 0; k < 4; k += 2)
    if (m[k].idx.dim[0] != m[k + 1].idx.dim[0])
      return r4_fail(e, R4_E_PARSE, "%s has %lld images, but %s %lld labels", m[k].path,
                     (long long)m[k].idx.dim[0], m[k + 1].path, (long long)m[k + 1].idx.dim[0]);
  if (!train[1] || !train[2] || train[1] != test[1] || train[2] != test[2])
    return r4_fail(e, R4_E_PARSE, "%s has images of %lld x %lld pixels, %s of %lld x %lld", m[0].path,
                   (long long)train[1], (long long)train[2], m[2].path, (long long)test[1],
                   (long long)test[2]);
  if (train[0] + test[0] > INT32_MAX) return r4_fail(e, R4_E_PARSE, "%s: more than 2^31 images", m[0].path);
  return R4_OK;
}

static r4_status fill(r4_data *d, const struct member m[4], r4_error *e)
{
  size_t row = 0;
  for (int k = 0; k < 4; k += 2) {
    size_t n = (size_t)m[k].idx.dim[0];
    const uint8_t *label = m[k + 1].idx.data;
    memcpy(column_row(data_x(d), row), m[k].idx.data, n * data_x(d)->features);
    for (size_t i = 0; i < n; i++, row++) {
      if (label[i] >= CLASSES)
        return r4_fail(e, R4_E_PARSE, "%s: byte %zu: label %d, expected 0 to 9", m[k + 1].path,
                       m[k + 1].idx.offset + i, label[i]);
      d->record[row].label = label[i];
      d->record[row].split = k ? R4_TEST : R4_TRAIN;
    }
  }
  return R4_OK;
}

static r4_status describe(r4_data *d, const char *path, const struct member m[4], r4_error *e)
{
  static const char *const digits[CLASSES] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  const struct published *known = published_find(d);
  r4_status s = R4_OK;
  for (int k = 0; !s && k < CLASSES; k++)
    s = names_add(d->classes, known ? known->class_name[k] : digits[k], NULL, e);
  if (s) return s;
  return data_set_about(d, e, "%s, idx files, %lld for training", path, (long long)m[0].idx.dim[0]);
}

static r4_data *idx_open(const char *path, const r4_data_options *options, r4_error *e)
{
  struct member m[4] = {0};
  r4_data *d = NULL;
  r4_status s = R4_OK;
  for (int k = 0; !s && k < 4; k++) s = read_member(path, k, &m[k], e);
  if (!s) s = check_sizes(m, e);
  if (!s) {
    size_t n = (size_t)(m[0].idx.dim[0] + m[2].idx.dim[0]);
    r4_shape shape = R4_SHAPE(m[0].idx.dim[1], m[0].idx.dim[2], 1);
    struct column *v = column_new_in(whole_room(options), &bytes_column, shape, n, e);
    d = v ? data_new(n, v, e) : NULL;
    if (!d || fill(d, m, e) || describe(d, path, m, e) || data_finish(d, path, e)) {
      r4_data_free(d);
      d = NULL;
    }
  }
  for (int k = 0; k < 4; k++) r4_mem_free(m[k].bytes);
  return d;
}

const struct format idx_format = {"idx", "a folder with train-images-idx3-ubyte and so on, or .gz of them",
                                  matches, idx_open, 0, list_files};
