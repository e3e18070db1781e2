/* Data sets that are kept whole in a cache: arrays, idx files and texts. They are the same bits as without it, whoever
 * made the file, and where none can be made. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "data/data.h"
#include "data/format/cache_parts.h"
#include "data/format/whole_open.h"
#include "data/format/whole.h"
#include "folder_make.h"
#include "tensor/npz.h"
#include "text_case.h"

enum { EXAMPLES = 30, SIDE = 5, SOURCES = 6 };

/* ---- Sources ---- */

/* Images or features with masks, groups, names and splits that are not in order. */
static void put_npz(const char *folder, const char *name, bool bytes)
{
  enum { FEATURES = SIDE * SIDE };
  static uint8_t byte[EXAMPLES * FEATURES], mask[EXAMPLES * FEATURES];
  static float real[EXAMPLES * FEATURES];
  int32_t label[EXAMPLES], group[EXAMPLES];
  r4_split split[EXAMPLES];
  for (int i = 0; i < EXAMPLES * FEATURES; i++) {
    byte[i] = (uint8_t)(i * 7);
    real[i] = (float)i / 3 - 9;
    mask[i] = i % 11 == i / FEATURES % 11;
  }
  for (int i = 0; i < EXAMPLES; i++) label[i] = i % 3, group[i] = i % 2, split[i] = (r4_split)(i * 5 % 3);
  const r4_data_arrays a = {.n = EXAMPLES,
                            .shape = bytes ? R4_SHAPE(SIDE, SIDE, 1) : R4_SHAPE(FEATURES),
                            .bytes = bytes ? byte : NULL,
                            .floats = bytes ? NULL : real,
                            .labels = label,
                            .groups = group,
                            .splits = split,
                            .classes = 3,
                            .class_names = (const char *const[]){"ant", "bee", "\1cat"},
                            .group_count = 2,
                            .mask_bytes = mask,
                            .mask_means = R4_MASKS_IRRELEVANT,
                            .scale = bytes ? 0.5 : 0,
                            .offset = -3};
  r4_error e = {0};
  r4_data *d = r4_data_new(&a, &e);
  if (!d) fail_msg("%s", e.text);
  if (bytes) { /* names of files and ids, which arrays have none of */
    d->files = names_new(NULL), d->ids = names_new(NULL);
    assert_int_equal(names_add(d->files, "x/1.png", &d->record[4].file, NULL), R4_OK);
    assert_int_equal(names_add(d->ids, "", &d->record[5].id, NULL), R4_OK);
  }
  assert_int_equal(r4_data_save(d, path_in(folder, name), &e), R4_OK);
  r4_data_free(d);
}

/* Elements in the other order of bytes, and of Fortran, which cannot be used as they lie in the file. */
static void put_odd_npz(const char *folder)
{
  struct npz_entry entry[4] = {{.key = "x_train"}, {.key = "y_train"}, {.key = "x_test"}, {.key = "y_test"}};
  for (int k = 0; k < 4; k++) {
    const int64_t dim[] = {4, 3};
    assert_int_equal(array_new(&entry[k].array, k % 2 ? ARRAY_I64 : ARRAY_F64, 0, k % 2 ? 1 : 2, dim, NULL), R4_OK);
    for (int i = 0; i < 12 && k % 2 == 0; i++) ((double *)entry[k].array.data)[i] = i * i + k;
  }
  assert_int_equal(npz_write(path_in(folder, "odd.npz"), 4, entry, NULL), R4_OK);
  for (int k = 0; k < 4; k++) array_free(&entry[k].array);
}

static void put_idx(const char *folder)
{
  static const char *const name[] = {"idx/train-images-idx3-ubyte", "idx/train-labels-idx1-ubyte",
                                     "idx/t10k-images-idx3-ubyte", "idx/t10k-labels-idx1-ubyte"};
  for (int k = 0; k < 4; k++) {
    uint8_t bytes[16 + 4 * 784] = {0, 0, 8, k % 2 ? 1 : 3, 0, 0, 0, 4, 0, 0, 0, 28, 0, 0, 0, 28};
    for (size_t i = 0; i < 4; i++) memset(bytes + 16 + i * 784, (int)(16 * i) + k, 784);
    for (size_t i = 8; k % 2 && i < 12; i++) bytes[i] = (uint8_t)(i % 3);
    if (!k) put_text(folder, "idx/about", "not an image");
    assert_int_equal(file_write(path_in(folder, name[k]), bytes, k % 2 ? 12 : sizeof bytes, NULL), R4_OK);
  }
}

/* All sources in a folder, and cache is the path of one that is not there. */
static char *sources(r4_data_options *o, char cache[4096])
{
  char *folder = folder_new();
  put_npz(folder, "bytes.npz", true);
  put_npz(folder, "floats.npz", false);
  put_odd_npz(folder);
  put_idx(folder);
  put_text(folder, "texts.csv",
           "id,label,text,split,group,site\n7,pos,the good film,train,x,A\n8,neg,bad movie,1,y,\n9,pos,of,test,x,C\n");
  put_text(folder, "texts/train/pos/a.txt", "the good good good film");
  put_text(folder, "texts/test/neg/b.txt", "bad movie");
  snprintf(cache, 4096, "%s/cache", folder);
  *o = (r4_data_options){.mask_means = R4_MASKS_IRRELEVANT, .cache = cache};
  return folder;
}

/* What source k needs: texts a tokenizer, of which some are cut, and words that must not matter. */
static r4_data_options options_of(const r4_data_options *o, int k)
{
  r4_data_options of = *o;
  if (k < 4) return of;
  of.tokenizer = VOCABULARY;
  of.mask_words = "film, good";
  of.length = 4;
  return of;
}

static const char *const source[SOURCES] = {"bytes.npz", "floats.npz", "odd.npz", "idx", "texts.csv", "texts"};

static r4_data *opened(const char *folder, int k, const r4_data_options *o)
{
  r4_error e = {0};
  const r4_data_options of = options_of(o, k);
  r4_data *d = r4_data_open(path_in(folder, source[k]), &of, &e);
  if (!d) fail_msg("%s: %s", source[k], e.text);
  return d;
}

static r4_data *uncached(const char *folder, int k, r4_data_options o)
{
  o.cache = NULL;
  return opened(folder, k, &o);
}

/* ---- What is the same ---- */

static void same_names(const struct names *a, const struct names *b)
{
  assert_int_equal(a != NULL, b != NULL);
  if (!a) return;
  assert_int_equal(a->n, b->n);
  for (size_t k = 0; k < a->n; k++) assert_string_equal(a->name[k], b->name[k]);
}

static void same_column(const struct column *x, const struct column *y)
{
  assert_ptr_equal(x->is, y->is);
  assert_int_equal(x->rows, y->rows);
  assert_memory_equal(x->number, y->number, sizeof x->number);
  assert_memory_equal(x->data, y->data, x->rows * x->features * x->is->size);
  if (x->length) assert_memory_equal(x->length, y->length, x->rows * sizeof *x->length);
}

static void same_data(const r4_data *a, const r4_data *b)
{
  char one[R4_HASH_SIZE], other[R4_HASH_SIZE];
  assert_int_equal(a->n, b->n);
  assert_int_equal(a->means, b->means);
  assert_string_equal(r4_data_about(a), r4_data_about(b));
  same_column(data_x(a), data_x(b));
  same_names(a->classes, b->classes);
  same_names(a->groups, b->groups);
  same_names(a->files, b->files);
  same_names(a->ids, b->ids);
  same_names(a->notes, b->notes);
  same_names(a->pieces, b->pieces);
  for (size_t i = 0; i < a->n; i++) {
    const r4_example x = r4_data_example(a, i), y = r4_data_example(b, i);
    if (x.file) assert_string_equal(x.file, y.file);
    if (x.id) assert_string_equal(x.id, y.id);
    assert_int_equal(a->record[i].mask, b->record[i].mask);
    for (size_t k = 0; k < r4_data_extras(a); k++)
      assert_string_equal(r4_data_extra(a, i, k), r4_data_extra(b, i, k));
  }
  assert_int_equal(r4_data_extras(a), r4_data_extras(b));
  for (size_t k = 0; k < r4_data_extras(a); k++)
    assert_string_equal(r4_data_extra_name(a, k), r4_data_extra_name(b, k));
  r4_data_hash(a, one);
  r4_data_hash(b, other);
  assert_string_equal(one, other);
}

/* Files of the cache with this ending; the last of them. */
static size_t files(const char *cache, const char *ending, char last[4096])
{
  DIR *dir = opendir(cache);
  size_t n = 0;
  for (struct dirent *f; dir && (f = readdir(dir));) {
    size_t length = strlen(f->d_name), of = strlen(ending);
    if (f->d_name[0] == '.' || length < of || strcmp(f->d_name + length - of, ending) != 0) continue;
    snprintf(last, 4096, "%s/%s", cache, f->d_name);
    n++;
  }
  if (dir) closedir(dir);
  return n;
}

/* ---- Tests ---- */

static void is_mapped(void **state)
{
  (void)state;
  char cache[4096], file[4096];
  r4_data_options o;
  char *folder = sources(&o, cache);
  for (int k = 0; k < SOURCES; k++) {
    r4_data *want = uncached(folder, k, o);
    assert_null(data_x(want)->map);
    for (int again = 0; again < 2; again++) {
      r4_data *d = opened(folder, k, &o);
      assert_non_null(data_x(d)->map);
      if (data_masks(d)) assert_ptr_equal(data_masks(d)->map, data_x(d)->map);
      same_data(d, want);
      r4_data_free(d);
    }
    assert_int_equal(files(cache, ".data", file), k + 1);
    assert_int_equal(files(cache, "", file), 2 * (k + 1)); /* and the notes of each: nothing is left over */
    r4_data_free(want);
  }
  folder_remove(folder);
}

/* The data are where they are, under whatever path: sentences and the hash are those of the path that was given. */
static void another_way_to_write_it(void **state)
{
  (void)state;
  char cache[4096], file[4096], link[4096];
  r4_data_options o;
  char *folder = sources(&o, cache);
  r4_data_free(opened(folder, 4, &o));
  snprintf(link, sizeof link, "%s/other", folder);
  assert_int_equal(symlink(folder, link), 0);
  r4_data *d = opened(link, 4, &o), *want = uncached(link, 4, o);
  assert_non_null(strstr(r4_data_about(d), "/other/texts.csv"));
  same_data(d, want);
  assert_int_equal(files(cache, ".data", file), 1);
  r4_data_free(d);
  r4_data_free(want);
  folder_remove(folder);
}

/* Another file in its place, and other options, are other data. */
static void changes_are_seen(void **state)
{
  (void)state;
  char cache[4096], file[4096];
  r4_data_options o;
  char *folder = sources(&o, cache);
  r4_data_free(opened(folder, 4, &o));
  put_text(folder, "texts.csv", "label,text\npos,good\nneg,bad bad bad movie\n");
  r4_data *d = opened(folder, 4, &o), *want = uncached(folder, 4, o);
  same_data(d, want);
  assert_int_equal(files(cache, ".data", file), 2);
  r4_data_free(d);
  r4_data_free(want);
  r4_data_options other = options_of(&o, 4);
  const struct {
    int64_t length;
    const char *words;
  } change[] = {{5, "film, good"}, {4, "film"}};
  for (size_t k = 0; k < 2; k++) {
    other.length = change[k].length, other.mask_words = change[k].words;
    d = r4_data_open(path_in(folder, "texts.csv"), &other, NULL);
    assert_int_equal(files(cache, ".data", file), 3 + k);
    r4_data_free(d);
  }
  put_text(folder, "texts/test/neg/c.txt", "film");
  d = opened(folder, 5, &o);
  assert_int_equal(r4_data_count(d), 3);
  r4_data_free(d);
  folder_remove(folder);
}

/* A file that says something else than what was written is made again, and one whose digest is right but whose parts do
 * not fit is none. */
static void damage_is_seen(void **state)
{
  (void)state;
  char cache[4096], file[4096];
  r4_data_options o;
  char *folder = sources(&o, cache);
  r4_data *want = uncached(folder, 0, o);
  r4_data_free(opened(folder, 0, &o));
  assert_int_equal(files(cache, ".data", file), 1);
  uint8_t *bytes = NULL;
  size_t size = 0;
  assert_int_equal(file_read(file, 1 << 24, &bytes, &size, NULL), R4_OK);
  for (size_t at = 0; at <= size; at += at < 200 ? 8 : 997) {
    struct file_writer w;
    bytes[at < size ? at : size - 1] ^= 0x41;
    assert_int_equal(file_write(file, bytes, at % 3 ? size : size - at % 64, NULL), R4_OK);
    r4_data *d = opened(folder, 0, &o);
    same_data(d, want);
    assert_int_equal(r4_data_notes(d), 0);
    r4_data_free(d);
    assert_int_equal(file_begin(&w, file, NULL), R4_OK); /* the same with a digest that is right */
    fwrite(bytes, 1, size - HASH_BYTES, w.f);
    assert_int_equal(cache_put_digest(&w, NULL), R4_OK);
    assert_int_equal(file_end(&w, NULL), R4_OK);
    r4_error e = {0};
    const r4_data_options of = options_of(&o, 0);
    d = r4_data_open(path_in(folder, source[0]), &of, &e); /* other data, or made again, but never outside the file */
    if (d) r4_data_values(d, d->n - 1, (float[SIDE * SIDE]){0});
    assert_true(d || e.status == R4_E_PARSE || e.status == R4_E_ARGUMENT);
    r4_data_free(d);
    bytes[at < size ? at : size - 1] ^= 0x41;
  }
  r4_mem_free(bytes);
  r4_data_free(want);
  folder_remove(folder);
}

/* Headers that lie: of everything in them, the size of the file must follow. */
static void headers_that_lie(void **state)
{
  (void)state;
  char cache[4096], file[4096];
  r4_data_options o;
  char *folder = sources(&o, cache);
  r4_data_free(opened(folder, 4, &o));
  assert_int_equal(files(cache, ".data", file), 1);
  struct map *m = map_open(file, NULL);
  assert_non_null(m);
  struct map lying = *m;
  lying.bytes = malloc(m->size);
  lying.references = 1 << 20; /* it is nobody's to unmap */
  const uint8_t *end = lying.bytes + m->size;
  static const uint64_t values[] = {0, 3, 1u << 31, UINT64_MAX / 2, UINT64_MAX};
  for (size_t at = 0; at < 200; at += 8)
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
      memcpy(lying.bytes, m->bytes, m->size);
      memcpy(lying.bytes + at, values + k, sizeof *values);
      r4_data *d = whole_load(&lying, "there", NULL);
      bool same = !memcmp(lying.bytes + at, m->bytes + at, sizeof *values);
      bool words = (at >= 96 && at < 112) || at >= 152; /* numbers of the column, means, behind the header */
      if (d && data_masks(d)) assert_true(data_masks(d)->bytes + data_masks(d)->n * data_masks(d)->size <= end);
      bool fits = (at == 128 || at == 136) && k == 1; /* so few masks more have room behind the others */
      if (d && !same && !words && !fits) fail_msg("byte %zu is %llx", at, (unsigned long long)values[k]);
      r4_data_free(d);
    }
  free(lying.bytes);
  map_drop(m);
  folder_remove(folder);
}

static void only_read(void **state)
{
  (void)state;
  char cache[4096], file[4096];
  r4_data_options o;
  char *folder = sources(&o, cache);
  o.cache_only_read = true;
  for (int k = 0; k < SOURCES; k++) {
    r4_data *d = opened(folder, k, &o);
    assert_null(data_x(d)->map);
    assert_false(file_exists(cache));
    r4_data_free(d);
  }
  o.cache_only_read = false;
  r4_data_free(opened(folder, 1, &o));
  assert_int_equal(files(cache, ".notes", file), 1);
  assert_int_equal(unlink(file), 0);
  o.cache_only_read = true;
  char hash[R4_HASH_SIZE];
  r4_data *d = opened(folder, 1, &o);
  assert_non_null(data_x(d)->map);
  r4_data_hash(d, hash);
  assert_int_equal(files(cache, ".notes", file), 0);
  r4_data_free(d);
  folder_remove(folder);
}

/* The hash of the data is noted beside the file, and found there. */
static void hash_is_noted(void **state)
{
  (void)state;
  char cache[4096], notes[4096], hash[R4_HASH_SIZE], got[R4_HASH_SIZE];
  r4_data_options o;
  char *folder = sources(&o, cache);
  for (int k = 0; k < SOURCES; k++) {
    r4_data *d = opened(folder, k, &o);
    r4_data_hash(d, hash);
    uint8_t *text = NULL;
    size_t size = 0;
    snprintf(notes, sizeof notes, "%s.notes", data_x(d)->map->path);
    assert_int_equal(file_read(notes, 1 << 16, &text, &size, NULL), R4_OK);
    char *at = strstr((char *)text, hash);
    assert_non_null(at);
    *at = *at == 'f' ? 'e' : 'f';
    assert_int_equal(file_write(notes, text, size, NULL), R4_OK);
    r4_data_free(d);
    d = opened(folder, k, &o);
    r4_data_hash(d, got);
    assert_memory_equal(got, at, R4_HASH_SIZE - 1);
    r4_data_free(d);
    r4_mem_free(text);
  }
  folder_remove(folder);
}

static void several_make_it(void **state)
{
  (void)state;
  enum { PROCESSES = 4 };
  char cache[4096], file[4096];
  r4_data_options o;
  char *folder = sources(&o, cache);
  pid_t child[PROCESSES];
  for (int k = 0; k < PROCESSES; k++) {
    if ((child[k] = fork())) continue;
    struct stat about;
    r4_threads(1, false); /* a pool of threads does not survive a fork */
    const r4_data_options of = options_of(&o, 4);
    r4_data *d = r4_data_open(path_in(folder, source[4]), &of, NULL);
    if (!d || !data_x(d)->map || stat(data_x(d)->map->path, &about)) _exit(255);
    _exit((int)(about.st_ino % 251));
  }
  for (int k = 0, status; k < PROCESSES; k++) {
    struct stat about;
    assert_int_equal(waitpid(child[k], &status, 0), child[k]);
    assert_int_equal(files(cache, ".data", file), 1);
    assert_int_equal(stat(file, &about), 0);
    assert_int_equal(WEXITSTATUS(status), (int)(about.st_ino % 251)); /* nobody has put another in its place */
  }
  assert_int_equal(files(cache, ".lock", file) + files(cache, ".part", file), 0);
  folder_remove(folder);
}

/* Without room, or where nothing may be made: the same data in the memory, a note that says why, nothing half-made. */
static void nowhere_to_keep(void **state)
{
  (void)state;
  char cache[4096], file[4096], in_file[4096];
  struct rlimit before, small;
  r4_data_options o, plain;
  char *folder = sources(&o, cache);
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  put_text(folder, "file", "");
  plain = o;
  snprintf(in_file, sizeof in_file, "%s/file/cache", folder); /* no folder can be made in a file, whoever one is */
  plain.cache = in_file;
  for (int k = 0; k < SOURCES; k++)
    for (int way = 0; way < 2; way++) {
      small = before;
      small.rlim_cur = 4000;
      r4_data *want = uncached(folder, k, o);
      if (way) assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
      r4_data *d = opened(folder, k, way ? &o : &plain);
      assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
      assert_null(data_x(d)->map);
      size_t note = r4_data_notes(d) - 1;
      assert_int_equal(note, r4_data_notes(want));
      assert_int_equal(strncmp(r4_data_note(d, note), DATA_UNKEPT, strlen(DATA_UNKEPT)), 0);
      assert_non_null(strstr(r4_data_note(d, note), "/cache"));
      r4_mem_free(d->notes->name[--d->notes->n]);
      if (!note) data_forget_notes(d);
      same_data(d, want);
      assert_int_equal(files(cache, "", file), 0);
      r4_data_free(d);
      r4_data_free(want);
    }
  folder_remove(folder);
}

static void out_of_memory(void **state)
{
  (void)state;
  char cache[4096];
  r4_data_options o;
  char *folder = sources(&o, cache);
  int before = r4_threads(1, false); /* the n-th allocation is counted per thread */
  for (int k = 0; k < SOURCES; k++) {
    r4_data *want = uncached(folder, k, o);
    for (int there = 0; there < 2; there++) /* making it, having it */
      for (long n = 1;; n++) {
        r4_error e = {0};
        char file[4096];
        const r4_data_options of = options_of(&o, k);
        const char *path = path_in(folder, source[k]);
        const struct format *format = format_of(path); /* which may be another one when it cannot look */
        while (!there && files(cache, "", file)) assert_int_equal(unlink(file), 0);
        r4_mem_fail_at(n);
        r4_data *d = whole_open(format, path, &of, &e);
        bool reached = r4_mem_count() >= n;
        r4_mem_fail_at(0);
        if (!d && e.status != R4_E_MEMORY) fail_msg("%s, allocation %ld: %s", source[k], n, e.text);
        if (d) d->means = want->means; /* which r4_data_open fills in */
        if (d) same_data(d, want);
        r4_data_free(d);
        if (!reached) break;
      }
    r4_data_free(want);
  }
  r4_threads(before, false);
  folder_remove(folder);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(is_mapped),       cmocka_unit_test(another_way_to_write_it), cmocka_unit_test(changes_are_seen),
    cmocka_unit_test(damage_is_seen),  cmocka_unit_test(headers_that_lie),        cmocka_unit_test(only_read),
    cmocka_unit_test(hash_is_noted),   cmocka_unit_test(several_make_it),         cmocka_unit_test(nowhere_to_keep),
    cmocka_unit_test(out_of_memory),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
