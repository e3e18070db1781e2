#include "tensor/npz.h"

#include <stdio.h>
#include <zip.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "tensor/npy.h"

/* Deflate holds at most 258 bytes in 2 bits. */
enum { EXPANSION = 1032, NAME = 512 };

struct npz {
  zip_t *zip;
  char *file;
  uint64_t size; /* of the archive */
};

/* ---- Reading ---- */

/* The words are made in a copy: some errors of libzip never free theirs. */
static r4_status zip_failed(r4_error *e, const char *file, const char *member, const zip_error_t *why)
{
  int code = zip_error_code_zip(why);
  bool of_system = zip_error_system_type(why) == ZIP_ET_SYS || code == ZIP_ER_NOENT;
  r4_status s = code == ZIP_ER_MEMORY ? R4_E_MEMORY : of_system ? R4_E_IO : R4_E_PARSE;
  zip_error_t copy;
  zip_error_init(&copy);
  zip_error_set(&copy, code, zip_error_code_system(why));
  r4_fail(e, s, "%s: %s%s%s", file, member, *member ? ": " : "", zip_error_strerror(&copy));
  zip_error_fini(&copy);
  return s;
}

/* Takes over the source. */
static struct npz *open_source(zip_source_t *source, zip_error_t *why, const char *file, r4_error *e)
{
  struct npz *z = mem_new(1, sizeof *z, file, e);
  char *kept = mem_copy(file, e);
  zip_stat_t stat;
  zip_stat_init(&stat);
  bool room = z && kept;
  if (room && source && !zip_source_stat(source, &stat) &&
      (z->zip = zip_open_from_source(source, ZIP_RDONLY, why))) {
    z->file = kept;
    z->size = stat.size;
    zip_error_fini(why);
    return z;
  }
  if (room) zip_failed(e, file, "", source && !zip_error_code_zip(why) ? zip_source_error(source) : why);
  zip_source_free(source);
  zip_error_fini(why);
  r4_mem_free(z);
  r4_mem_free(kept);
  return NULL;
}

struct npz *npz_open(const char *path, r4_error *e)
{
  FILE *f = file_open(path, e);
  if (!f) return NULL;
  zip_error_t why;
  zip_error_init(&why);
  zip_source_t *source = zip_source_filep_create(f, 0, -1, &why); /* closes it with the archive */
  if (!source) fclose(f);
  return open_source(source, &why, path, e);
}

struct npz *npz_open_bytes(const uint8_t *bytes, size_t size, const char *file, r4_error *e)
{
  zip_error_t why;
  zip_error_init(&why);
  return open_source(zip_source_buffer_create(bytes, size, 0, &why), &why, file, e);
}

void npz_close(struct npz *z)
{
  if (!z) return;
  zip_discard(z->zip);
  r4_mem_free(z->file);
  r4_mem_free(z);
}

size_t npz_count(const struct npz *z)
{
  zip_int64_t n = zip_get_num_entries(z->zip, 0);
  return n > 0 ? (size_t)n : 0;
}

const char *npz_name(struct npz *z, size_t k)
{
  return zip_get_name(z->zip, k, 0);
}

/* The number of the member of a key, or -1. */
static zip_int64_t find(struct npz *z, const char *key)
{
  char name[NAME];
  int n = snprintf(name, sizeof name, "%s.npy", key);
  zip_int64_t k = n < NAME ? zip_name_locate(z->zip, name, 0) : -1;
  return k >= 0 ? k : zip_name_locate(z->zip, key, 0);
}

bool npz_has(struct npz *z, const char *key)
{
  return find(z, key) >= 0;
}

/* Whether what the archive says about a member can be true. */
static r4_status check_member(const struct npz *z, const zip_stat_t *m, const char *name, r4_error *e)
{
  enum { KNOWN = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD };
  if ((m->valid & KNOWN) != KNOWN) return r4_fail(e, R4_E_PARSE, "%s: %s: of unknown size", z->file, name);
  if (m->encryption_method != ZIP_EM_NONE)
    return r4_fail(e, R4_E_PARSE, "%s: %s: encrypted, expected a plain member", z->file, name);
  bool stored = m->comp_method == ZIP_CM_STORE;
  if (!stored && m->comp_method != ZIP_CM_DEFLATE)
    return r4_fail(e, R4_E_PARSE, "%s: %s: compressed by method %d, expected stored (0) or deflated (8)",
                   z->file, name, m->comp_method);
  if (m->comp_size > z->size)
    return r4_fail(e, R4_E_PARSE, "%s: %s: claims %llu bytes of the archive, which has %llu", z->file, name,
                   (unsigned long long)m->comp_size, (unsigned long long)z->size);
  if (stored ? m->size != m->comp_size : m->size / EXPANSION > m->comp_size)
    return r4_fail(e, R4_E_PARSE, "%s: %s: claims %llu bytes in %llu, which is impossible", z->file, name,
                   (unsigned long long)m->size, (unsigned long long)m->comp_size);
  return R4_OK;
}

/* All bytes of a member. Its checksum is compared when its end is read, hence the byte too many. */
static r4_status read_member(struct npz *z, const zip_stat_t *m, const char *name, uint8_t *to, r4_error *e)
{
  zip_file_t *f = zip_fopen_index(z->zip, m->index, 0);
  if (!f) return zip_failed(e, z->file, name, zip_get_error(z->zip));
  uint64_t got = 0;
  zip_int64_t n = 1;
  while (n > 0 && got <= m->size) {
    n = zip_fread(f, to + got, m->size + 1 - got);
    if (n > 0) got += (uint64_t)n;
  }
  r4_status s = R4_OK;
  if (n < 0)
    s = zip_failed(e, z->file, name, zip_file_get_error(f));
  else if (got != m->size)
    s = r4_fail(e, R4_E_PARSE, "%s: %s: byte %llu: expected %llu bytes", z->file, name,
                (unsigned long long)got, (unsigned long long)m->size);
  zip_fclose(f);
  return s;
}

/* What the archive says about the k-th member, if it can be true; *name gets what it is called. */
static r4_status look_up(struct npz *z, zip_int64_t k, char name[NAME], zip_stat_t *m, r4_error *e)
{
  zip_stat_init(m);
  if (zip_stat_index(z->zip, (zip_uint64_t)k, 0, m))
    return zip_failed(e, z->file, name, zip_get_error(z->zip));
  if (m->name) snprintf(name, NAME, "%s", m->name);
  return check_member(z, m, name, e);
}

/* The k-th member in new memory. */
static r4_status read_bytes(struct npz *z, zip_int64_t k, char name[NAME], uint8_t **bytes, size_t *size,
                            r4_error *e)
{
  zip_stat_t m;
  r4_status s = look_up(z, k, name, &m, e);
  if (s) return s;
  if (!(*bytes = mem_new(m.size + 1, 1, name, e))) return R4_E_MEMORY;
  *size = m.size;
  return read_member(z, &m, name, *bytes, e);
}

r4_status npz_read(struct npz *z, const char *key, struct array *a, r4_error *e)
{
  *a = (struct array){0};
  zip_int64_t k = find(z, key);
  if (k < 0) return r4_fail(e, R4_E_PARSE, "%s: has no array \"%s\"", z->file, key);
  char member[NAME], name[2 * NAME];
  snprintf(member, sizeof member, "%s", key);
  uint8_t *bytes = NULL;
  size_t size = 0;
  r4_status s = read_bytes(z, k, member, &bytes, &size, e);
  snprintf(name, sizeof name, "%.*s: %s", NAME - 3, z->file, member);
  if (!s) s = npy_read(bytes, size, name, a, e);
  r4_mem_free(bytes);
  return s;
}

static r4_status view_or_read(struct map_pile *pile, size_t size, const char *name, struct array *a, r4_error *e)
{
  if (npy_view(pile->bytes, size, name, a)) return R4_OK;
  r4_status s = npy_read(pile->bytes, size, name, a, e);
  map_pile_clear(pile);
  return s;
}

r4_status npz_read_in(struct npz *z, const char *key, const char *folder, struct map_pile *pile, struct array *a,
                      r4_error *e)
{
  *a = (struct array){0};
  *pile = (struct map_pile){0};
  zip_stat_t m;
  zip_int64_t k = find(z, key);
  if (k < 0) return r4_fail(e, R4_E_PARSE, "%s: has no array \"%s\"", z->file, key);
  char member[NAME], name[2 * NAME];
  snprintf(member, sizeof member, "%s", key);
  r4_status s = look_up(z, k, member, &m, e);
  if (!s) s = map_pile_open(pile, folder, e);
  if (s) return s;
  s = map_pile_grow(pile, m.size + 1, e);
  if (s) {
    map_pile_clear(pile);
    return s;
  }
  snprintf(name, sizeof name, "%.*s: %s", NAME - 3, z->file, member);
  s = read_member(z, &m, member, pile->bytes, e);
  if (!s) return view_or_read(pile, m.size, name, a, e);
  map_pile_clear(pile);
  return s == R4_E_IO ? r4_fail(e, R4_E_PARSE, "%s: cannot be read", name) : s;
}

/* The number of a member, or -1 and an error. */
static zip_int64_t locate(struct npz *z, const char *member, r4_error *e)
{
  zip_int64_t k = zip_name_locate(z->zip, member, 0);
  if (k < 0) r4_fail(e, R4_E_PARSE, "%s: has no member \"%s\"", z->file, member);
  return k;
}

r4_status npz_size(struct npz *z, const char *member, uint64_t *size, r4_error *e)
{
  zip_stat_t m;
  char name[NAME];
  zip_int64_t k = locate(z, member, e);
  *size = 0;
  if (k < 0) return R4_E_PARSE;
  snprintf(name, sizeof name, "%s", member);
  r4_status s = look_up(z, k, name, &m, e);
  if (!s) *size = m.size;
  return s;
}

r4_status npz_bytes(struct npz *z, const char *member, uint8_t **bytes, size_t *size, r4_error *e)
{
  *bytes = NULL;
  zip_int64_t k = locate(z, member, e);
  if (k < 0) return R4_E_PARSE;
  char name[NAME];
  snprintf(name, sizeof name, "%s", member);
  r4_status s = read_bytes(z, k, name, bytes, size, e);
  if (s) r4_mem_free(*bytes), *bytes = NULL;
  return s;
}

/* ---- Writing ---- */

/* 1980-01-01, 00:00, the first day of zip. */
enum { DOS_TIME = 0, DOS_DATE = 1 << 5 | 1 };

static r4_status add_entry(zip_t *zip, const struct npz_entry *entry, const struct npy *npy, const char *path,
                           r4_error *e)
{
  char name[NAME];
  snprintf(name, sizeof name, "%s.npy", entry->key);
  zip_buffer_fragment_t part[2] = {{(zip_uint8_t *)(uintptr_t)npy->head, npy->head_size},
                                   {(zip_uint8_t *)(uintptr_t)npy->body, npy->body_size}};
  zip_source_t *source = zip_source_buffer_fragment(zip, part, npy->body_size ? 2 : 1, 0);
  zip_int64_t k = source ? zip_file_add(zip, name, source, 0) : -1;
  if (k < 0) {
    zip_source_free(source);
    return zip_failed(e, path, name, zip_get_error(zip));
  }
  zip_uint64_t index = (zip_uint64_t)k;
  int method = entry->level ? ZIP_CM_DEFLATE : ZIP_CM_STORE;
  if (zip_set_file_compression(zip, index, method, (zip_uint32_t)entry->level) ||
      zip_file_set_dostime(zip, index, DOS_TIME, DOS_DATE, 0))
    return zip_failed(e, path, name, zip_get_error(zip));
  return R4_OK;
}

/* The archive that a closed zip left in its source, to a file. */
static r4_status copy_out(zip_source_t *archive, const char *path, r4_error *e)
{
  struct file_writer w;
  if (zip_source_open(archive)) return zip_failed(e, path, "", zip_source_error(archive));
  r4_status s = file_begin(&w, path, e);
  uint8_t block[1 << 14];
  zip_int64_t n = 0;
  while (!s && (n = zip_source_read(archive, block, sizeof block)) > 0) fwrite(block, 1, (size_t)n, w.f);
  if (!s && n < 0) {
    s = zip_failed(e, path, "", zip_source_error(archive));
    file_abandon(&w);
  } else if (!s) {
    s = file_end(&w, e);
  }
  zip_source_close(archive);
  return s;
}

/* Archives are made in memory, and go to the disk by the way of every other file. */
r4_status npz_write(const char *path, size_t n, const struct npz_entry *entry, r4_error *e)
{
  zip_error_t why;
  zip_error_init(&why);
  zip_source_t *archive = zip_source_buffer_create(NULL, 0, 0, &why);
  zip_t *zip = archive ? zip_open_from_source(archive, ZIP_TRUNCATE, &why) : NULL;
  struct npy *npy = mem_new(n ? n : 1, sizeof *npy, path, e);
  r4_status s = R4_OK;
  if (!npy)
    s = R4_E_MEMORY;
  else if (!zip)
    s = zip_failed(e, path, "", &why);
  for (size_t k = 0; !s && k < n; k++) {
    s = npy_encode(&entry[k].array, &npy[k], e);
    if (!s) s = add_entry(zip, &entry[k], &npy[k], path, e);
  }
  if (zip) zip_source_keep(archive); /* zip's own reference goes with it */
  if (!s && zip_close(zip))
    s = zip_failed(e, path, "", zip_get_error(zip));
  else if (!s)
    zip = NULL;
  if (zip) zip_discard(zip);
  if (!s) s = copy_out(archive, path, e);
  zip_source_free(archive);
  for (size_t k = 0; npy && k < n; k++) npy_free(&npy[k]);
  r4_mem_free(npy);
  zip_error_fini(&why);
  return s;
}
