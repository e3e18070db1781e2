/* Folders of images: layouts, labels, masks, sizes, the cache, and what is refused. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "data/format/folder.h"
#include "data/format/format.h"
#include "folder_make.h"

enum { SIDE = 4, PIXELS = SIDE * SIDE };

static const r4_data_options irrelevant = {.mask_means = R4_MASKS_IRRELEVANT};

/* Four images, of which three have masks, under all the names that a mask may have. */
static char *small_folder(void)
{
  char *folder = folder_new();
  put_grey(folder, "a.png", SIDE, SIDE, 10, 20);
  put_grey(folder, "images/b.png", SIDE, SIDE, 30, 40);
  put_grey(folder, "images/deep/c.png", SIDE, SIDE, 50, 60);
  put_grey(folder, "d.png", SIDE, SIDE, 70, 80);
  put_grey(folder, "masks/a.png", SIDE, SIDE, 128, 127);
  put_grey(folder, "masks/b_mask.png", SIDE, SIDE, 0, 255);
  put_grey(folder, "masks/deep/c_segmentation.png", SIDE, SIDE, 255, 0);
  put_text(folder, "metadata.csv",
           "file,label,group,split,id\na.png,cat,sea,train,p1\nb.png,dog,land,1,p2\n"
           "deep/c.png,cat,land,2,p1\nd.png,ant,sea,test,\n");
  return folder;
}

static void metadata_tells_it_all(void **state)
{
  (void)state;
  char *folder = small_folder();
  r4_data *d = folder_opened(folder, &irrelevant);
  static const struct {
    int label, group, split;
    const char *file, *id;
    int left, right, mask_left, mask_right;
  } want[] = {{1, 1, R4_TRAIN, "a.png", "p1", 10, 20, 1, 0},
              {2, 0, R4_VAL, "images/b.png", "p2", 30, 40, 0, 1},
              {1, 0, R4_TEST, "images/deep/c.png", "p1", 50, 60, 1, 0},
              {0, 1, R4_TEST, "d.png", NULL, 70, 80, 0, 0}};
  assert_int_equal(r4_data_count(d), 4);
  assert_true(r4_shape_equal(r4_data_shape(d), R4_SHAPE(SIDE, SIDE, 1)));
  assert_string_equal(r4_data_class_name(d, 0), "ant");
  assert_string_equal(r4_data_group_name(d, 1), "sea");
  for (size_t i = 0; i < 4; i++) {
    r4_example x = r4_data_example(d, i);
    float value[PIXELS], mask[PIXELS];
    assert_true(x.label == want[i].label && x.group == want[i].group && x.split == (r4_split)want[i].split);
    assert_string_equal(x.file, want[i].file);
    if (want[i].id)
      assert_string_equal(x.id, want[i].id);
    else
      assert_null(x.id);
    r4_data_values(d, i, value);
    assert_true(value[0] == (float)want[i].left / 255 && value[PIXELS - 1] == (float)want[i].right / 255);
    assert_int_equal(r4_data_mask(d, i, mask), i < 3);
    assert_true(mask[0] == (float)want[i].mask_left && mask[PIXELS - 1] == (float)want[i].mask_right);
  }
  r4_data_free(d);
  folder_remove(folder);
}

/* Columns that r4 does not know go with their examples, whatever becomes of these. */
static void further_columns_are_kept(void **state)
{
  (void)state;
  char *folder = small_folder(), plain[R4_HASH_SIZE], hash[R4_HASH_SIZE];
  r4_error e = {0};
  r4_data *d = folder_opened(folder, &irrelevant);
  assert_int_equal(r4_data_extras(d), 0);
  assert_null(r4_data_extra(d, 0, 0));
  r4_data_hash(d, plain);
  r4_data_free(d);
  put_text(folder, "metadata.csv",
           "Site,file,label,group,split,id,,age,site\nA,a.png,cat,sea,train,p1,x,40,1\nB,b.png,dog,land,1,p2,x, 50 ,2\n"
           "B,deep/c.png,cat,land,2,p1,x,,3\nC,d.png,ant,sea,test,,x,60,4\n");
  d = folder_opened(folder, &irrelevant);
  r4_data_hash(d, hash);
  assert_string_equal(hash, plain); /* runs from before are of these data */
  assert_int_equal(r4_data_extras(d), 2);
  assert_string_equal(r4_data_extra_name(d, 0), "Site");
  assert_string_equal(r4_data_extra_name(d, 1), "age");
  assert_null(r4_data_extra_name(d, 2));
  assert_string_equal(r4_data_extra(d, 1, 0), "B");
  assert_string_equal(r4_data_extra(d, 1, 1), "50");
  assert_null(r4_data_extra(d, 4, 0));
  r4_data *test = r4_data_part(d, R4_TEST, &e), *last = r4_data_subset(test, 1, &(size_t){1}, &e);
  r4_data *split = r4_data_split(d, 0.5, 0, 3, &e);
  assert_true(test && last && split);
  r4_data_free(d);
  assert_string_equal(r4_data_extra(test, 0, 0), "B");
  assert_string_equal(r4_data_extra(test, 0, 1), "");
  r4_data_free(test);
  assert_string_equal(r4_data_extra(last, 0, 0), "C");
  assert_string_equal(r4_data_extra(last, 0, 1), "60");
  for (size_t i = 0; i < 4; i++) assert_string_equal(r4_data_extra(split, i, 0), i ? i > 2 ? "C" : "B" : "A");
  r4_data_free(last);
  r4_data_free(split);
  folder_remove(folder);
}

static void masks_mean_what_is_stated(void **state)
{
  (void)state;
  char *folder = small_folder();
  float mask[PIXELS];
  folder_refused(folder, NULL, "set mask_means to irrelevant or relevant (--mask-means "
                                "irrelevant; in settings data.mask_means: irrelevant)");
  r4_data *d = folder_opened(folder, &(r4_data_options){.mask_means = R4_MASKS_RELEVANT});
  assert_true(r4_data_mask(d, 1, mask));
  assert_true(mask[0] == 1 && mask[PIXELS - 1] == 0);
  assert_false(r4_data_has_mask(d, 3)); /* nothing is known about it */
  r4_data_free(d);
  d = folder_opened(folder, &(r4_data_options){.mask_means = R4_MASKS_RELEVANT, .soft_masks = true});
  r4_data_mask(d, 0, mask);
  assert_true(mask[0] == 127.f / 255 && mask[PIXELS - 1] == 128.f / 255);
  r4_data_free(d);
  put_grey(folder, "masks/d.png", SIDE, SIDE + 1, 0, 255);
  folder_refused(folder, &irrelevant, "masks/d.png: has 5 x 4 pixels, expected 4 x 4, as its image d.png");
  put_grey(folder, "masks/d.png", SIDE, SIDE, 0, 255);
  put_grey(folder, "masks/d_mask.png", SIDE, SIDE, 0, 255);
  folder_refused(folder, &irrelevant, "masks/d.png and masks/d_mask.png are both masks of d");
  folder_remove(folder);
}

/* Stored 32 x 16 and shown 16 x 32: the mask was drawn on what is shown. */
static void photos_are_turned_before_masks(void **state)
{
  (void)state;
  char *folder = folder_new();
  uint8_t *photo = NULL;
  size_t size = 0;
  assert_int_equal(file_read("test/fuzz/corpus/image/turned6.jpg", 1 << 16, &photo, &size, NULL), R4_OK);
  assert_int_equal(file_write(path_in(folder, "cat/a.jpg"), photo, size, NULL), R4_OK);
  r4_mem_free(photo);
  put_grey(folder, "masks/a.png", 32, 16, 255, 0);
  r4_data *d = folder_opened(folder, &irrelevant);
  assert_true(r4_shape_equal(r4_data_shape(d), R4_SHAPE(32, 16, 1)));
  r4_data_free(d);
  put_grey(folder, "masks/a.png", 16, 32, 255, 0);
  folder_refused(folder, &irrelevant, "photos are rotated by their EXIF");
  folder_remove(folder);
}

static void images_are_resized(void **state)
{
  (void)state;
  char *folder = folder_new();
  const uint8_t red[3] = {200, 0, 0}, blue[3] = {0, 0, 100};
  put_grey(folder, "0/a.png", SIDE, SIDE, 10, 20);
  put_image(folder, "0/b.png", 6, 8, 3, red, blue);
  put_grey(folder, "masks/0/a.png", SIDE, SIDE, 255, 0);
  folder_refused(folder, &irrelevant,
                 "0/a.png has 4 x 4 pixels and 0/b.png has 8 x 6: give a size to resize them to (data.size in");
  r4_data_options options = irrelevant;
  options.height = 2;
  folder_refused(folder, &options, "height 2 and width 0, expected both");
  options.width = 3;
  r4_data *d = folder_opened(folder, &options);
  float value[18], mask[18];
  assert_true(r4_shape_equal(r4_data_shape(d), R4_SHAPE(2, 3, 3)));
  r4_data_values(d, 0, value); /* 10, 10, 20, 20: the middle is between, and grey has become colour */
  assert_true(value[0] < value[3] && value[3] == value[5] && value[3] == 15.f / 255 && value[6] > value[3]);
  r4_data_values(d, 1, value);
  assert_true(value[0] > .7 && value[2] < .1 && value[6] < .1 && value[8] > .3);
  assert_true(r4_data_mask(d, 0, mask)); /* resized first, then 1 from the half on */
  assert_true(mask[0] == 1 && mask[3] == 1 && mask[6] == 0);
  r4_data_free(d);
  folder_remove(folder);
}

static void folders_are_classes(void **state)
{
  (void)state;
  char *folder = folder_new();
  put_grey(folder, "train/10/x.png", SIDE, SIDE, 1, 1);
  put_grey(folder, "train/9/x.png", SIDE, SIDE, 2, 2);
  put_grey(folder, "Test/9/y.PNG", SIDE, SIDE, 3, 3); /* parts in any case, and as others call them */
  put_grey(folder, "valid/9/z.png", SIDE, SIDE, 4, 4);
  put_text(folder, "Test/9/.hidden.png", "no image");
  put_text(folder, "Test/9/notes.txt", "no image");
  r4_data *d = folder_opened(folder, NULL);
  assert_int_equal(r4_data_count(d), 4);
  assert_int_equal(r4_data_example(d, 3).split, R4_VAL);
  assert_string_equal(r4_data_class_name(d, 0), "9"); /* numbers in their order, not 10 before 9 */
  assert_string_equal(r4_data_example(d, 0).file, "Test/9/y.PNG");
  assert_int_equal(r4_data_example(d, 0).split, R4_TEST);
  assert_int_equal(r4_data_example(d, 1).label, 1);
  assert_int_equal(r4_data_example(d, 1).split, R4_TRAIN);
  r4_data_free(d);
  put_grey(folder, "cat/x.png", SIDE, SIDE, 1, 1);
  folder_refused(folder, NULL, "has folders called train, val or test and others");
  folder_remove(folder);
  folder = folder_new();
  put_grey(folder, "b/x.png", SIDE, SIDE, 1, 1);
  put_grey(folder, "a/x.png", SIDE, SIDE, 2, 2);
  put_grey(folder, "masks/b/x.png", SIDE, SIDE, 0, 255);
  d = folder_opened(folder, &irrelevant);
  assert_int_equal(r4_data_classes(d), 2); /* masks is no class */
  assert_true(!r4_data_has_mask(d, 0) && r4_data_has_mask(d, 1));
  r4_data_free(d);
  put_grey(folder, "masks/x.png", SIDE, SIDE, 0, 255); /* for a/x.png, by its name alone */
  r4_data_free(folder_opened(folder, &irrelevant));
  put_grey(folder, "c/x.png", SIDE, SIDE, 2, 2);
  folder_refused(folder, &irrelevant, "c/x.png: its mask masks/x.png would be that of a/x.png as well");
  folder_remove(folder);
}

static void bad_tables_are_refused(void **state)
{
  (void)state;
  char *folder = small_folder();
  static const char *const bad[][2] = {
    {"file,label\na.png,\n", "metadata.csv:2: file a.png: the label is empty"},
    {"file,label\n,cat\n", "metadata.csv:2: the file is empty"},
    {"file,label,group\na.png,cat,\n", "metadata.csv:2: file a.png: the group is empty"},
    {"file,label\na.png,cat\nx.png,cat\n", "metadata.csv:3: file x.png: is neither in"},
    {"file,label,split\na.png,cat,dev\n", "metadata.csv:2: file a.png: split 'dev', expected train"},
    {"file,label,split\na.png,cat,\n", "split ''"},
    {"file,label\na.png,cat\nd.png,cat\n\na.png,dog\n", "metadata.csv:5: file a.png: is in line 2 already"},
    {"file,label\nmetadata.csv,cat\n", "metadata.csv:2: file metadata.csv: does not start like a PNG or JPEG"},
    {"file,class\na.png,cat\n",
     "metadata.csv:1: no column \"label\"; the first line names \"file\", \"class\"; "
     "expected file, label, and if wanted group, split, id"},
    {"Filename;Label\na.png;cat\n", "no column \"file\"; the first line names \"Filename\", \"Label\";"},
    {"file,label\na.png\n", "metadata.csv:2"},
    {"file,label\n", "has no images"},
  };
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    put_text(folder, "metadata.csv", bad[k][0]);
    folder_refused(folder, &irrelevant, bad[k][1]);
  }
  folder_remove(folder);
  folder = folder_new();
  put_text(folder, "sub/x.md", "");
  folder_refused(folder, NULL, "has no images");
  folder_remove(folder);
}

/* One table in the ways in which people and spreadsheets write it. */
static void tables_as_people_write_them(void **state)
{
  (void)state;
  char *folder = small_folder();
  static const char *const same[] = {
    "file,label,split\na.png,cat,train\nd.png,dog,test\n",
    ("\xef\xbb\xbf"
     "File;Label;Split\r\na.png;cat;Train\r\nd.png;dog;TEST\r\n;;\r\n\r\n"),
    "FILE\tLABEL\tSPLIT\na.png\tcat\ttraining\nd.png\tdog\ttesting",
    " file , label , split \n a.png , cat , 0 \n d.png ,\tdog , 2\n",
    "\"file\",\"label\",\"split\"\n\"a.png\", \"cat\" ,\"train\"\n\"d.png\",\"dog \",\"test\"\n,,\n",
    "note,split,label,file\n\"one, two\",train,cat,a.png\n,test,dog,d.png\n",
  };
  for (size_t k = 0; k < sizeof same / sizeof *same; k++) {
    put_text(folder, "metadata.csv", same[k]);
    r4_data *d = folder_opened(folder, &irrelevant);
    assert_int_equal(r4_data_count(d), 2);
    assert_int_equal(r4_data_classes(d), 2);
    assert_string_equal(r4_data_class_name(d, 0), "cat");
    assert_string_equal(r4_data_class_name(d, 1), "dog");
    assert_string_equal(r4_data_example(d, 0).file, "a.png");
    assert_int_equal(r4_data_example(d, 0).split, R4_TRAIN);
    assert_int_equal(r4_data_example(d, 1).split, R4_TEST);
    r4_data_free(d);
  }
  r4_finding finding[R4_FINDINGS];
  size_t n = 0;
  put_text(folder, "metadata.csv", "file,label\na.png,cat\nd.png,Cat \nb.png, cat\n");
  r4_data *d = folder_opened(folder, &irrelevant); /* blanks are nothing, a capital may be something */
  assert_int_equal(r4_data_classes(d), 2);
  assert_int_equal(r4_data_lint(d, NULL, finding, &n, NULL), R4_OK);
  bool told = false;
  for (size_t k = 0; k < n; k++) told |= !strcmp(finding[k].code, "names-alike");
  assert_true(told);
  r4_data_free(d);
  folder_remove(folder);
}

/* Of many broken files the first is told, whichever thread is first. That is chance, the more so on a busy machine, and
 * so it is asked often. */
static void first_error_wins(void **state)
{
  (void)state;
  char *folder = folder_new(), name[32];
  for (int i = 0; i < 300; i++) {
    snprintf(name, sizeof name, "a/%03d.png", i);
    put_grey(folder, name, SIDE, SIDE, (uint8_t)i, 0);
  }
  uint8_t *png = NULL;
  size_t size = 0;
  assert_int_equal(file_read(path_in(folder, "a/000.png"), 1 << 20, &png, &size, NULL), R4_OK);
  for (int i = 137; i < 300; i++) { /* the header is good, the end is missing */
    snprintf(name, sizeof name, "a/%03d.png", i);
    assert_int_equal(file_write(path_in(folder, name), png, size - 1, NULL), R4_OK);
  }
  r4_mem_free(png);
  for (int k = 0; k < 20; k++) folder_refused(folder, NULL, "a/137.png: not a valid PNG");
  for (int i = 210; i < 300; i++) {
    snprintf(name, sizeof name, "a/%03d.png", i);
    put_text(folder, name, "");
  }
  for (int k = 0; k < 20; k++)
    folder_refused(folder, NULL, "a/210.png: is empty"); /* headers come before pixels */
  folder_remove(folder);
}

static void strays_are_told(void **state)
{
  (void)state;
  char *folder = small_folder();
  put_grey(folder, "masks/z.png", SIDE, SIDE, 0, 255);
  put_grey(folder, "masks/deep/a.png", SIDE, SIDE, 0, 255);
  struct names *stray = folder_stray_masks(folder, NULL);
  assert_int_equal(stray->n, 2);
  assert_string_equal(stray->name[0], "masks/deep/a.png");
  assert_string_equal(stray->name[1], "masks/z.png");
  names_drop(stray);
  folder_remove(folder);
}

/* ---- Cache ---- */

static size_t count_files(const char *folder, char *last, size_t size)
{
  DIR *dir = opendir(folder);
  size_t n = 0;
  for (struct dirent *f; dir && (f = readdir(dir));)
    if (strstr(f->d_name, ".images") && !strstr(f->d_name, ".notes")) {
      snprintf(last, size, "%s/%s", folder, f->d_name);
      n++;
    }
  if (dir) closedir(dir);
  return n;
}

static void hash_of(const char *folder, const r4_data_options *options, char hash[R4_HASH_SIZE])
{
  r4_data *d = folder_opened(folder, options);
  r4_data_hash(d, hash);
  r4_data_free(d);
}

static void cache_gives_the_same(void **state)
{
  (void)state;
  char *folder = small_folder(), cache[4096], file[8192], want[R4_HASH_SIZE], got[R4_HASH_SIZE];
  snprintf(cache, sizeof cache, "%s/not/yet/there", folder);
  r4_data_options options = irrelevant;
  hash_of(folder, &options, want);
  options.cache = cache;
  for (int k = 0; k < 2; k++) {
    hash_of(folder, &options, got);
    assert_string_equal(got, want);
    assert_int_equal(count_files(cache, file, sizeof file), 1);
  }
  uint8_t *bytes = NULL;
  size_t size = 0;
  assert_int_equal(file_read(file, 1 << 20, &bytes, &size, NULL), R4_OK);
  for (size_t k = 0; k < size; k += k < 64 ? 1 : 31) { /* a byte anywhere: ignored, and written again */
    uint8_t kept = bytes[k], *again = NULL;
    size_t n = 0;
    bytes[k] ^= 1;
    assert_int_equal(file_write(file, bytes, k % 2 ? size : k, NULL), R4_OK);
    hash_of(folder, &options, got);
    assert_string_equal(got, want);
    bytes[k] = kept;
    assert_int_equal(file_read(file, 1 << 20, &again, &n, NULL), R4_OK);
    assert_int_equal(n, size);
    assert_memory_equal(again, bytes, size);
    r4_mem_free(again);
  }
  r4_mem_free(bytes);
  folder_remove(folder);
}

/* What the pixels depend on changes the name, what they do not depend on does not. */
static void cache_knows_what_matters(void **state)
{
  (void)state;
  char *folder = small_folder(), cache[4096], file[8192], before[R4_HASH_SIZE], after[R4_HASH_SIZE];
  snprintf(cache, sizeof cache, "%s/cache", folder);
  r4_data_options options = irrelevant;
  options.cache = cache;
  hash_of(folder, &options, before);
  put_text(folder, "metadata.csv", "file,label\na.png,ant\nb.png,bee\ndeep/c.png,cat\nd.png,dog\n");
  r4_data *d = folder_opened(folder, &options);
  assert_string_equal(r4_data_class_name(d, 3), "dog");
  assert_int_equal(r4_data_example(d, 3).label, 3);
  r4_data_free(d);
  assert_int_equal(count_files(cache, file, sizeof file), 1);
  hash_of(folder, &options, before);
  put_grey(folder, "d.png", SIDE, SIDE, 71, 81); /* as long as before, and later */
  hash_of(folder, &options, after);
  assert_string_not_equal(before, after);
  assert_int_equal(count_files(cache, file, sizeof file), 2);
  options.mask_means = R4_MASKS_RELEVANT;
  hash_of(folder, &options, after);
  options.soft_masks = true;
  hash_of(folder, &options, after);
  options.height = options.width = 3;
  hash_of(folder, &options, after);
  assert_int_equal(count_files(cache, file, sizeof file), 5);
  put_text(folder, "metadata.csv", "file,label\na.png,ant\nb.png,bee\n"); /* other files */
  hash_of(folder, &options, after);
  assert_int_equal(count_files(cache, file, sizeof file), 6);
  put_text(folder, "blocked", "");
  snprintf(cache, sizeof cache, "%s/blocked", folder);
  d = folder_opened(folder, &options); /* nothing can be kept there: it is in the memory, and says so */
  assert_non_null(strstr(r4_data_note(d, r4_data_notes(d) - 1), "the cache is not used: "));
  assert_non_null(strstr(r4_data_note(d, r4_data_notes(d) - 1), "blocked"));
  r4_data_free(d);
  folder_remove(folder);
}

static void memory_may_run_out(void **state)
{
  (void)state;
  char *folder = small_folder(), cache[4096];
  snprintf(cache, sizeof cache, "%s/cache", folder);
  put_text(folder, "metadata.csv",
           "file,label,group,split,id,site\na.png,cat,sea,train,p1,A\nb.png,dog,land,1,p2,B\n"
           "deep/c.png,cat,land,2,p1,\nd.png,ant,sea,test,,C\n");
  int before = r4_threads(1, false);         /* the n-th allocation is counted per thread */
  for (int cached = 0; cached < 3; cached++) /* without a cache, making it, having it */
    for (long n = 1;; n++) {
      r4_error e = {0};
      r4_data_options options = irrelevant;
      if (cached) options.cache = cache;
      r4_mem_fail_at(n);
      r4_data *d = folder_format.open(folder, &options, &e);
      bool reached = r4_mem_count() >= n;
      r4_mem_fail_at(0);
      if (!d && e.status != R4_E_MEMORY) fail_msg("allocation %ld: %s", n, e.text);
      r4_data_free(d);
      if (!reached) break;
    }
  for (long n = 1;; n++) {
    r4_error e = {0};
    r4_mem_fail_at(n);
    struct names *stray = folder_stray_masks(folder, &e);
    bool reached = r4_mem_count() >= n;
    r4_mem_fail_at(0);
    assert_true(stray || e.status == R4_E_MEMORY);
    names_drop(stray);
    if (!reached) break;
  }
  r4_threads(before, false);
  folder_remove(folder);
}

/* ---- HAM10000 ---- */

static void ham_layout(void **state)
{
  (void)state;
  char *folder = folder_new(), name[64];
  struct {
    size_t n;
    char at[8192];
  } table = {0};
  table.n = (size_t)snprintf(table.at, sizeof table.at, "lesion_id,image_id,dx,age\n");
  for (int i = 0; i < 60; i++) { /* 30 lesions of two photographs */
    static const char *const places[] = {"%s", "images/%s", "HAM10000_images_part_1/%s",
                                         "HAM10000_images_part_2/%s"};
    char file[32];
    table.n += (size_t)snprintf(table.at + table.n, sizeof table.at - table.n, "L%02d,I%02d,%s,\n", i / 2, i,
                                i % 4 < 2 ? "nv" : "mel");
    snprintf(file, sizeof file, "I%02d.jpg", i);
    snprintf(name, sizeof name, places[i % 4], file);
    put_grey(folder, name, SIDE, SIDE, (uint8_t)i, 0); /* the content tells the kind, not the name */
  }
  put_text(folder, "HAM10000_metadata", table.at);
  put_grey(folder, "masks_4x4/I07_segmentation.png", SIDE, SIDE, 255, 0);
  r4_data *d = folder_opened(folder, NULL); /* without a stated meaning masks are not read */
  assert_int_equal(r4_data_count(d), 60);
  assert_int_equal(r4_data_classes(d), 7);
  assert_int_equal(r4_data_example(d, 0).label, 5);
  assert_int_equal(r4_data_example(d, 2).label, 4);
  assert_false(r4_data_has_mask(d, 7));
  size_t parts[R4_SPLITS] = {0};
  for (size_t i = 0; i < 60; i++) {
    r4_example x = r4_data_example(d, i);
    parts[x.split]++;
    assert_int_equal(x.split, r4_data_example(d, i ^ 1).split); /* both photographs of the lesion */
    assert_string_equal(x.id, r4_data_example(d, i ^ 1).id);
  }
  assert_true(parts[R4_VAL] >= 4 && parts[R4_VAL] <= 8 && parts[R4_TEST] == 12);
  r4_data_free(d);
  d = folder_opened(folder, &irrelevant);
  assert_true(r4_data_has_mask(d, 7) && !r4_data_has_mask(d, 6));
  r4_data_free(d);
  put_text(folder, "HAM10000_metadata", "lesion_id,image_id,dx\nL00,I00,nv\nL01,I02,mole\n");
  folder_refused(
    folder, NULL,
    "HAM10000_metadata:3: file HAM10000_images_part_1/I02.jpg: label 'mole', expected one of akiec");
  put_text(folder, "HAM10000_metadata", "lesion_id,image_id,dx\nL00,I99,nv\n");
  folder_refused(folder, NULL, "HAM10000_metadata:2: file I99.jpg: is neither");
  folder_remove(folder);
}

/* Rows in another order than the metadata; the two photographs of a lesion are on two sides. */
static void ham_split_of_dermamnist(void **state)
{
  (void)state;
  const r4_data_options own = {.own_split = true};
  char *folder = folder_new();
  put_text(folder, "HAM10000_metadata.csv",
           "lesion_id,image_id,dx\nL0,I0,nv\nL0,I1,nv\nL1,I10,mel\nL2,I2,df\n");
  static const char *const names[] = {"images/I0.jpg", "images/I1.jpg", "I10.jpg",
                                      "HAM10000_images_part_1/I2.jpg"};
  for (uint8_t i = 0; i < 4; i++)
    put_image(folder, names[i], SIDE, SIDE, 3, (uint8_t[]){(uint8_t)(40 * i), 9, 9}, (uint8_t[]){1, 2, 3});
  folder_refused(folder, &own, "dermamnist_split.csv: ");
  put_text(folder, "dermamnist_split.csv",
           "split,index,image_id\ntrain,0,I10\ntrain,1,I0\nval,0,I2\ntest,0,I1\n");
  static const r4_split want[] = {R4_TRAIN, R4_TEST, R4_TRAIN, R4_VAL};
  r4_data *d = folder_opened(folder, &own);
  for (size_t i = 0; i < 4; i++) assert_int_equal(r4_data_example(d, i).split, want[i]);
  r4_data_free(d);

  r4_error e = {0};
  r4_recipe_options make = {
    .from = folder, .read = {.own_split = true, .height = 28, .width = 28}, .keep_val = true, .val = .1};
  d = r4_data_make("decoy-derm", &make, &e); /* and a recipe keeps it, lesions on both sides included */
  if (!d) fail_msg("%s", e.text);
  for (size_t i = 0; i < 4; i++) assert_int_equal(r4_data_example(d, i).split, want[i]);
  assert_non_null(strstr(r4_data_about(d), " --split own  # 1 examples also occur in a later split"));
  r4_data_free(d);

  static const struct {
    const char *table, *because;
  } bad[] = {{"train,0,I10\ntrain,1,I0\nval,0,I2\n", "dermamnist_split.csv: image I1 is missing"},
             {"train,0,I10\ntrain,1,I1\ntrain,1,I10\n", "dermamnist_split.csv:4: image I10 occurs twice"},
             {"train,0,I10\ntrain,1,I3\n", "dermamnist_split.csv:3: image I3 is not in the metadata"},
             {"left,0,I10\n", "dermamnist_split.csv:2: split 'left', expected train, val or test"}};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    char text[256];
    snprintf(text, sizeof text, "split,index,image_id\n%s", bad[k].table);
    put_text(folder, "dermamnist_split.csv", text);
    folder_refused(folder, &own, bad[k].because);
  }
  folder_remove(folder);
  folder = small_folder();
  folder_refused(folder, &(r4_data_options){.own_split = true, .mask_means = R4_MASKS_IRRELEVANT},
                 "is of the format folder: split: own is for HAM10000");
  folder_remove(folder);
}

static void ham_is_complete(void **state)
{
  (void)state;
  CHECK_NEEDS_DATA("ham10000");
  static const size_t want[] = {327, 514, 1099, 115, 1113, 6705, 142};
  r4_data *d = folder_opened(check_data("ham10000"), &(r4_data_options){.height = 8, .width = 8});
  size_t count[7] = {0}, parts[R4_SPLITS] = {0};
  assert_int_equal(r4_data_count(d), 10015);
  for (size_t i = 0; i < 10015; i++) {
    count[r4_data_example(d, i).label]++;
    parts[r4_data_example(d, i).split]++;
  }
  for (int k = 0; k < 7; k++) assert_int_equal(count[k], want[k]);
  assert_int_equal(d->ids->n, 7470);
  assert_true(parts[R4_TEST] > 1995 && parts[R4_TEST] < 2010 && parts[R4_VAL] > 995 && parts[R4_VAL] < 1007);
  int8_t of[7470];
  memset(of, -1, sizeof of);
  for (size_t i = 0; i < 10015; i++) {
    const struct record *r = d->record + i;
    assert_true(of[r->id] < 0 || of[r->id] == r->split);
    of[r->id] = (int8_t)r->split;
  }
  r4_data_free(d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(metadata_tells_it_all),   cmocka_unit_test(masks_mean_what_is_stated),
    cmocka_unit_test(images_are_resized),      cmocka_unit_test(folders_are_classes),
    cmocka_unit_test(bad_tables_are_refused),  cmocka_unit_test(tables_as_people_write_them),
    cmocka_unit_test(first_error_wins),        cmocka_unit_test(strays_are_told),
    cmocka_unit_test(cache_gives_the_same),    cmocka_unit_test(cache_knows_what_matters),
    cmocka_unit_test(photos_are_turned_before_masks), cmocka_unit_test(further_columns_are_kept),
    cmocka_unit_test(memory_may_run_out),      cmocka_unit_test(ham_layout),
    cmocka_unit_test(ham_split_of_dermamnist), cmocka_unit_test(ham_is_complete)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
