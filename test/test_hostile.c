/* Folders made to do harm, or by accident: files that never end, paths and links that lead out, names that are more
 * than text. Nothing hangs, nothing outside is read, and what is printed can be printed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "data/data.h"
#include "data/format/cache.h"
#include "folder_make.h"

enum { SIDE = 4 };

static const r4_data_options irrelevant = {.mask_means = R4_MASKS_IRRELEVANT};

/* A test that waits for a pipe is ended by the alarm, and that is a failure. */
static int start(void **state)
{
  (void)state;
  alarm(60);
  return 0;
}

static int end(void **state)
{
  (void)state;
  alarm(0);
  return 0;
}

static void refused_as(const char *source, r4_mask_meaning means, const char *because)
{
  r4_error e = {0};
  r4_data *d = r4_data_open(source, &(r4_data_options){.mask_means = means}, &e);
  if (d) fail_msg("accepted: %s", because);
  if (!strstr(e.text, because)) fail_msg("%s: no '%s'", e.text, because);
}

static void refused(const char *source, const char *because)
{
  refused_as(source, R4_MASKS_IRRELEVANT, because);
}

/* ---- What is no file ---- */

static void put_pipe(const char *path)
{
  remove(path);
  assert_int_equal(mkfifo(path, 0600), 0);
}

/* The address of a socket is short, so it is bound in its folder. */
static void put_socket(const char *path)
{
  char folder[4096], here[4096];
  remove(path);
  snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
  assert_non_null(getcwd(here, sizeof here));
  assert_int_equal(chdir(folder), 0);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%.100s", strrchr(path, '/') + 1);
  int s = socket(AF_UNIX, SOCK_STREAM, 0);
  assert_int_equal(bind(s, (struct sockaddr *)&address, sizeof address), 0);
  close(s);
  assert_int_equal(chdir(here), 0);
}

static void put_folder(const char *path)
{
  remove(path);
  assert_int_equal(mkdir(path, 0700), 0);
}

static const struct kind {
  void (*put)(const char *path);
  const char *says;
} kinds[] = {{put_pipe, "is a pipe, expected a file"},
             {put_socket, "is a socket, expected a file"},
             {put_folder, "is a folder, expected a file"}};

enum { KINDS = sizeof kinds / sizeof *kinds };

static void put_ham(const char *folder)
{
  put_text(folder, "HAM10000_metadata.csv", "lesion_id,image_id,dx\nl,a,nv\n");
  put_grey(folder, "a.jpg", SIDE, SIDE, 1, 2);
}

static void put_table(const char *folder)
{
  put_grey(folder, "a.png", SIDE, SIDE, 1, 2);
  put_grey(folder, "masks/a.png", SIDE, SIDE, 0, 255);
  put_text(folder, "metadata.csv", "file,label\na.png,cat\n");
}

static void put_plants(const char *folder)
{
  put_grey(folder, "images/1_Z1.jpg", SIDE, SIDE, 1, 2);
  put_text(folder, "rgb_dataset_splits/train_2.txt", "1_Z1\n");
  put_text(folder, "rgb_dataset_splits/test_2.txt", "\n");
}

static void put_mnist(const char *folder)
{
  static const char *const name[] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                     "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
  static const uint8_t images[] = {0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 7};
  static const uint8_t labels[] = {0, 0, 8, 1, 0, 0, 0, 1, 3};
  for (int k = 0; k < 4; k++)
    assert_int_equal(file_write(path_in(folder, name[k]), k % 2 ? labels : images,
                                k % 2 ? sizeof labels : sizeof images, NULL),
                     R4_OK);
}

/* A sound folder, one file of which is replaced. */
static void readers_refuse_what_is_no_file(void **state)
{
  (void)state;
  static const struct {
    void (*put)(const char *folder);
    const char *file;
    r4_mask_meaning means;
  } places[] = {{put_table, "a.png", R4_MASKS_IRRELEVANT},
                {put_table, "masks/a.png", R4_MASKS_IRRELEVANT},
                {put_table, "metadata.csv", R4_MASKS_IRRELEVANT},
                {put_ham, "a.jpg", R4_MASKS_IRRELEVANT},
                {put_ham, "HAM10000_metadata.csv", R4_MASKS_IRRELEVANT},
                {put_plants, "images/1_Z1.jpg", R4_MASKS_RELEVANT},
                {put_plants, "rgb_dataset_splits/test_2.txt", R4_MASKS_RELEVANT},
                {put_mnist, "train-images-idx3-ubyte", R4_MASKS_IRRELEVANT},
                {put_mnist, "t10k-labels-idx1-ubyte", R4_MASKS_IRRELEVANT}};
  for (size_t p = 0; p < sizeof places / sizeof *places; p++)
    for (size_t k = 0; k < KINDS; k++) {
      char *folder = folder_new();
      places[p].put(folder);
      r4_data_free(r4_data_open(folder, &irrelevant, NULL));
      if (kinds[k].put == put_folder && !strcmp(places[p].file, "masks/a.png")) { /* then it is not a mask */
        folder_remove(folder);
        continue;
      }
      kinds[k].put(path_in(folder, places[p].file));
      if (kinds[k].put != put_folder || !strstr(places[p].file, "Z1"))
        refused_as(folder, places[p].means, kinds[k].says);
      folder_remove(folder);
    }
}

static void expect_refusal(r4_status s, const r4_error *e, const struct kind *kind)
{
  assert_int_equal(s, R4_E_IO);
  assert_int_equal(e->status, R4_E_IO);
  if (!strstr(e->text, kind->says)) fail_msg("%s: no '%s'", e->text, kind->says);
}

static void files_of_all_kinds_are_refused(void **state)
{
  (void)state;
  char *folder = folder_new();
  for (size_t k = 0; k < KINDS; k++) {
    r4_error e = {0};
    const char *npz = path_in(folder, "d.npz"), *other = path_in(folder, "file");
    kinds[k].put(npz);
    kinds[k].put(other);
    refused(npz, kinds[k].says);
    assert_null(r4_model_open(other, NULL, &e));
    if (kinds[k].put == put_folder) /* of a run, perhaps */
      assert_non_null(strstr(e.text, "/file/model.safetensors: opening: No such file"));
    else
      expect_refusal(e.status, &e, kinds + k);
    r4_settings *s = r4_settings_new();
    expect_refusal(r4_settings_read(s, other, &e), &e, kinds + k);
    r4_settings_free(s);
    expect_refusal(r4_file_check(other, "00", &e), &e, kinds + k);
    r4_data empty = {0};
    assert_false(cache_load(other, false, &empty));
    rmdir(npz);
    rmdir(other);
  }
  r4_error e = {0};
  assert_null(r4_model_open("/dev/zero", NULL, &e));
  assert_string_equal(e.text, "/dev/zero: is a device, expected a file");
  folder_remove(folder);
}

/* ---- Out of the folder ---- */

static void paths_stay_inside(void **state)
{
  (void)state;
  char *outer = folder_new(), table[256];
  put_grey(outer, "secret.png", SIDE, SIDE, 1, 2);
  put_grey(outer, "in/a.png", SIDE, SIDE, 1, 2);
  char folder[4096], absolute[4096];
  snprintf(folder, sizeof folder, "%s/in", outer);
  snprintf(absolute, sizeof absolute, "%s/secret.png", outer);
  const char *const bad[] = {"../secret.png", "x/../../secret.png", "..", "images/../../secret.png",
                             absolute};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    snprintf(table, sizeof table, "file,label\na.png,cat\n%s,dog\n", bad[k]);
    put_text(outer, "in/metadata.csv", table);
    refused(folder, "metadata.csv:3: file ");
    refused(folder, "leaves the folder, expected a path within it");
  }
  put_grey(outer, "in/..a../b..png", SIDE, SIDE, 1, 2); /* dots in names are only dots */
  put_text(outer, "in/metadata.csv", "file,label\na.png,cat\n..a../b..png,dog\n");
  r4_error e = {0};
  r4_data *d = r4_data_open(folder, NULL, &e);
  if (!d) fail_msg("%s", e.text);
  r4_data_free(d);
  put_text(outer, "in/HAM10000_metadata.csv", "lesion_id,image_id,dx\nl,../secret,nv\n");
  rename(path_in(outer, "secret.png"), path_in(outer, "secret.jpg"));
  refused(folder, "HAM10000_metadata.csv:2: file ../secret.jpg: leaves the folder");
  folder_remove(outer);
}

static void links_stay_inside(void **state)
{
  (void)state;
  char *outer = folder_new();
  put_grey(outer, "secret.png", SIDE, SIDE, 1, 2);
  put_grey(outer, "other/secret.png", SIDE, SIDE, 0, 255);
  put_text(outer, "table.csv", "file,label\na.png,cat\n");
  static const struct {
    const char *target, *name;
  } bad[] = {{"../secret.png", "in/b.png"},
             {"../../secret.png", "in/masks/a.png"},
             {"..", "in/masks"},
             {"../other", "in/masks"},
             {"../../other", "in/masks/deep"},
             {"../table.csv", "in/metadata.csv"},
             {".", "in/masks/round"},
             {"../../in/masks/real", "in/masks/two"}};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    put_grey(outer, "in/a.png", SIDE, SIDE, 1, 2);
    put_grey(outer, "in/more/c.png", SIDE, SIDE, 3, 4);
    put_text(outer, "in/metadata.csv", "file,label\na.png,cat\nmore/c.png,dog\n");
    if (!strcmp(bad[k].name, "in/b.png"))
      put_text(outer, "in/metadata.csv", "file,label\na.png,cat\nb.png,dog\n");
    if (strcmp(bad[k].name, "in/masks")) put_grey(outer, "in/masks/real/x.png", SIDE, SIDE, 0, 255);
    const char *link = path_in(outer, bad[k].name);
    remove(link);
    if (symlink(bad[k].target, link)) fail_msg("%s: %s", link, strerror(errno));
    refused(path_in(outer, "in"), "is a link to ");
    char line[8192];
    snprintf(line, sizeof line, "rm -r '%s/in'", outer);
    assert_int_equal(system(line), 0);
  }
  folder_remove(outer);
}

static void classes_stay_inside(void **state)
{
  (void)state;
  char *outer = folder_new();
  put_grey(outer, "in/cat/a.png", SIDE, SIDE, 1, 2);
  put_grey(outer, "secret/b.png", SIDE, SIDE, 3, 4);
  assert_int_equal(symlink("../secret", path_in(outer, "in/dog")), 0);
  refused(path_in(outer, "in"), "is a link to ");
  refused(path_in(outer, "in"), "link the whole folder");
  folder_remove(outer);
}

/* The way out that the message names, and links that stay inside. */
static void links_that_are_fine(void **state)
{
  (void)state;
  char *outer = folder_new();
  r4_error e = {0};
  put_grey(outer, "in/store/a.png", SIDE, SIDE, 1, 2);
  put_grey(outer, "in/store/m.png", SIDE, SIDE, 0, 255);
  put_grey(outer, "in/masks/z.txt", SIDE, SIDE, 0, 255);
  put_text(outer, "in/metadata.csv", "file,label\nb.png,cat\nc.png,dog\n");
  put_text(outer, "in/images/z.txt", "");
  assert_int_equal(symlink("store/a.png", path_in(outer, "in/b.png")), 0);
  assert_int_equal(symlink("../store/a.png", path_in(outer, "in/images/c.png")), 0);
  assert_int_equal(symlink("../store/m.png", path_in(outer, "in/masks/b.png")), 0);
  assert_int_equal(symlink("in", path_in(outer, "link")), 0);
  r4_data *d = r4_data_open(path_in(outer, "link"), &irrelevant, &e);
  if (!d) fail_msg("%s", e.text);
  assert_true(r4_data_has_mask(d, 0));
  r4_data_free(d);
  folder_remove(outer);
}

/* The images may be on another disk; what leads on from there is refused as anywhere. */
static void images_may_be_a_link(void **state)
{
  (void)state;
  char *outer = folder_new();
  r4_error e = {0};
  put_grey(outer, "disk/a.png", SIDE, SIDE, 1, 2);
  put_grey(outer, "disk/deep/b.png", SIDE, SIDE, 3, 4);
  put_grey(outer, "secret.png", SIDE, SIDE, 5, 6);
  put_text(outer, "in/metadata.csv", "file,label\na.png,cat\ndeep/b.png,dog\n");
  assert_int_equal(symlink("../disk", path_in(outer, "in/images")), 0);
  r4_data *d = r4_data_open(path_in(outer, "in"), &irrelevant, &e);
  if (!d) fail_msg("%s", e.text);
  assert_int_equal(r4_data_count(d), 2);
  r4_data_free(d);
  assert_int_equal(symlink("../secret.png", path_in(outer, "disk/c.png")), 0);
  put_text(outer, "in/metadata.csv", "file,label\na.png,cat\nc.png,dog\n");
  refused(path_in(outer, "in"), "is a link to ");
  put_text(outer, "in/metadata.csv", "file,label\na.png,cat\nimages/../secret.png,dog\n");
  refused(path_in(outer, "in"), "leaves the folder");
  folder_remove(outer);
}

/* ---- Names that are more than text ---- */

static void text_can_be_shown(void **state)
{
  (void)state;
  static const struct {
    const char *text, *shown;
  } cases[] = {
    {"caf\xc3\xa9 \xf0\x9f\x90\xb1", "caf\xc3\xa9 \xf0\x9f\x90\xb1"},
    {"a\x1b[31mb", "a\\x1b[31mb"},
    {"a\nb\tc\r\x7f", "a\\x0ab\\x09c\\x0d\\x7f"},
    {"caf\xe9", "caf\\xe9"},
    {"\xc2\x9b"
     "1m",
     "\\u009b1m"},
    {"\xe2\x80\xae"
     "gnp.exe",
     "\\u202egnp.exe"},
    {"\xc3", "\\xc3"},
    {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
    {"", ""},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char to[64];
    assert_int_equal(r4_text_printable(cases[k].text, to, sizeof to), strlen(cases[k].shown));
    assert_string_equal(to, cases[k].shown);
  }
  char small[6];
  assert_int_equal(r4_text_printable("ab\xc3\xa9\x1b", small, sizeof small), 8); /* whole characters only */
  assert_string_equal(small, "ab\xc3\xa9");
  assert_int_equal(r4_text_printable("ab", NULL, 0), 2);
}

static void sentences_can_be_shown(void **state)
{
  (void)state;
  char *folder = folder_new();
  r4_error e = {0};
  r4_finding finding[R4_FINDINGS];
  size_t n = 0;
  put_grey(folder, "c\x1b[2Jt/\xff.png", SIDE, SIDE, 9, 9);
  put_grey(folder, "c\x1b[2JT/b.png", SIDE, SIDE, 9, 9);
  r4_data *d = r4_data_open(folder, NULL, &e);
  if (!d) fail_msg("%s", e.text);
  assert_string_equal(r4_data_class_name(d, 1), "c\x1b[2Jt"); /* as its file has it */
  assert_int_equal(r4_data_lint(d, folder, finding, &n, &e), R4_OK);
  assert_true(n > 1);
  for (size_t k = 0; k < n; k++) assert_true(!strchr(finding[k].text, '\x1b') && utf8_valid(finding[k].text));
  r4_data_free(d);
  put_text(folder, "c\x1b[2Jt/\xff.png", "broken");
  assert_null(r4_data_open(folder, NULL, &e));
  assert_non_null(strstr(e.text, "c\\x1b[2Jt/\\xff.png: does not start like a PNG"));
  folder_remove(folder);
}

static void json_has_no_controls(void **state)
{
  (void)state;
  struct json_writer w = {0};
  jw_text(&w, NULL, "\x1b\x7f\xc2\x9b\xe2\x80\xae");
  char *text = text_take(&w.text);
  assert_string_equal(text, "\"\\u001b\\u007f\\u009b\\u202e\"");
  r4_string_free(text);
}

/* ---- Nothing at all ---- */

static void nothing_is_an_argument(void **state)
{
  (void)state;
  r4_error e = {0};
  assert_null(r4_data_open(NULL, NULL, &e));
  assert_int_equal(e.status, R4_E_ARGUMENT);
  assert_string_equal(e.text, "no source is given: expected a path, or the name of a data set");
  assert_null(r4_data_open("", NULL, NULL));
  assert_null(r4_data_make(NULL, NULL, &e));
  assert_int_equal(e.status, R4_E_ARGUMENT);
  r4_data *d = r4_data_open("digits:10", NULL, &e);
  assert_int_equal(r4_data_save(d, NULL, &e), R4_E_IO);
  assert_string_equal(e.text, "no file is named");
  assert_int_equal(r4_data_sheet(d, R4_SHEET_CLASSES, 0, NULL, &e), R4_E_IO);
  assert_int_equal(r4_file_check(NULL, "00", &e), R4_E_IO);
  r4_data_free(d);
}

/* "." is this folder, not that of the data sets. */
static void dots_are_paths(void **state)
{
  (void)state;
  char *folder = folder_new(), here[4096];
  r4_error e = {0};
  put_table(folder);
  assert_non_null(getcwd(here, sizeof here));
  assert_int_equal(chdir(folder), 0);
  r4_data *d = r4_data_open(".", &(r4_data_options){.mask_means = R4_MASKS_IRRELEVANT, .folder = "/"}, &e);
  assert_int_equal(chdir(here), 0);
  if (!d) fail_msg("%s", e.text);
  r4_data_free(d);
  folder_remove(folder);
}

static void data_has_a_home(void **state)
{
  (void)state;
  static const struct {
    const char *own, *xdg, *home, *folder;
  } cases[] = {{"/own", "/xdg", "/home", "/own"},
               {"", "/xdg", "/home", "/xdg/r4"},
               {NULL, "", "/home", "/home/.local/share/r4"},
               {NULL, "relative", "/home", "/home/.local/share/r4"},
               {NULL, NULL, NULL, NULL},
               {"", "", "", NULL},
               {NULL, "here", "there", NULL}};
  static const char *const names[] = {"R4_DATA_DIR", "XDG_DATA_HOME", "HOME"};
  char *kept[3];
  for (int k = 0; k < 3; k++) kept[k] = getenv(names[k]) ? strdup(getenv(names[k])) : NULL;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    const char *const values[] = {cases[c].own, cases[c].xdg, cases[c].home};
    for (int k = 0; k < 3; k++) values[k] ? setenv(names[k], values[k], 1) : unsetenv(names[k]);
    r4_error e = {0};
    char *folder = r4_data_folder(&e);
    if (cases[c].folder) {
      assert_string_equal(folder, cases[c].folder);
    } else {
      assert_null(folder);
      assert_int_equal(e.status, R4_E_IO);
      assert_non_null(strstr(e.text, "set R4_DATA_DIR to one, or XDG_DATA_HOME or HOME"));
      assert_null(r4_data_open("mnist", NULL, &e));
      assert_non_null(strstr(e.text, "mnist: not a path, and there is no folder of data sets"));
      assert_null(r4_data_make("decoy-mnist", NULL, &e));
      assert_non_null(strstr(e.text, "mnist: there is no folder of data sets"));
      r4_data *d = r4_data_open("digits:10", NULL, &e); /* needs none */
      assert_non_null(d);
      r4_data_free(d);
    }
    r4_string_free(folder);
  }
  for (int k = 0; k < 3; k++) {
    kept[k] ? setenv(names[k], kept[k], 1) : unsetenv(names[k]);
    free(kept[k]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(readers_refuse_what_is_no_file, start, end),
    cmocka_unit_test_setup_teardown(files_of_all_kinds_are_refused, start, end),
    cmocka_unit_test(paths_stay_inside),
    cmocka_unit_test(links_stay_inside),
    cmocka_unit_test(classes_stay_inside),
    cmocka_unit_test(links_that_are_fine),
    cmocka_unit_test(images_may_be_a_link),
    cmocka_unit_test(text_can_be_shown),
    cmocka_unit_test(sentences_can_be_shown),
    cmocka_unit_test(json_has_no_controls),
    cmocka_unit_test(nothing_is_an_argument),
    cmocka_unit_test(dots_are_paths),
    cmocka_unit_test(data_has_a_home),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
