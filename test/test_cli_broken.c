/* Exit codes: 3 for every file that is missing or damaged, whatever command meets it; 2 for what the user wrote. Needs
 * $R4, the command. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "command.h"
#include "folder_make.h"
#include "pets.h"
#include "tensor/npz.h"

static void put_idx(const char *folder)
{
  static const char *const name[] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                     "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
  for (int k = 0; k < 4; k++) {
    uint8_t bytes[16 + 4 * 784] = {0, 0, 8, k % 2 ? 1 : 3, 0, 0, 0, 4, 0, 0, 0, 28, 0, 0, 0, 28};
    char path[200];
    for (size_t i = 0; i < 4; i++) memset(bytes + 16 + i * 784, (int)i + 1, 784);
    if (k % 2) memset(bytes + 8, 0, sizeof bytes - 8);
    snprintf(path, sizeof path, "%s/%s", folder, name[k]);
    assert_int_equal(file_write(path_in(scratch_folder(), path), bytes, k % 2 ? 12 : sizeof bytes, NULL),
                     R4_OK);
  }
}

/* An archive of something else. */
static void put_other_npz(const char *name)
{
  struct npz_entry entry = {.key = "weights"};
  assert_int_equal(array_new(&entry.array, ARRAY_F32, 0, 1, (int64_t[]){3}, NULL), R4_OK);
  assert_int_equal(npz_write(scratch_path(name), 1, &entry, NULL), R4_OK);
  array_free(&entry.array);
}

/* Sound sources, a run, and its settings. */
static int make(void **state)
{
  if (scratch_make(state)) return -1;
  pets_make((struct pets){.folder = "pets", .cat = "cat", .dog = "dog", .test = 6, .masked = true});
  pets_settings("pets.yaml", "pets", "method: r3\nlambda: 0.1\n");
  put_other_npz("none.npz");
  put_idx("idx");
  put_idx("zipped");
  EXPECT("gzip zipped/*-ubyte && $R4 data make decoy-mnist --from digits:60 --val none --out d.npz", 0,
         "examples");
  EXPECT("$R4 train pets.yaml --out run --quiet", 0, "run");
  return 0;
}

/* ---- Data ---- */

#define CUT(file) "head -c $(($(wc -c < " file ") / 2)) " file " > cut; mv cut " file
#define FLIP(file)                                                                                 \
  "printf '\\252\\125\\252' | dd of=" file " bs=1 seek=$(($(wc -c < " file ") / 2)) conv=notrunc " \
  "2>/dev/null"
#define TABLE(text) "printf '" text "' > pets/metadata.csv"

/* A source, and what to do to a copy of it. */
static const struct broken {
  const char *what, *source, *how;
} broken[] = {
  {"npz, missing", "d.npz", "rm d.npz"},
  {"npz, a folder", "d.npz", "rm d.npz; mkdir d.npz"},
  {"npz, empty", "d.npz", ": > d.npz"},
  {"npz, text", "d.npz", "echo hello > d.npz"},
  {"npz, cut off", "d.npz", CUT("d.npz")},
  {"npz, other bytes", "d.npz", FLIP("d.npz")},
  {"npz, no data set", "d.npz", "cp none.npz d.npz"},
  {"idx, missing", "idx", "rm idx/t10k-labels-idx1-ubyte"},
  {"idx, cut off", "idx", CUT("idx/train-images-idx3-ubyte")},
  {"idx, text", "idx", "echo hello, world > idx/train-labels-idx1-ubyte"},
  {"idx, a label of 77", "idx",
   "printf M | dd of=idx/train-labels-idx1-ubyte bs=1 seek=9 conv=notrunc 2>/dev/null"},
  {"idx, fewer labels", "idx", "printf '\\0\\0\\010\\001\\0\\0\\0\\001\\0' > idx/train-labels-idx1-ubyte"},
  {"gzip, cut off", "zipped", CUT("zipped/train-images-idx3-ubyte.gz")},
  {"gzip, other bytes", "zipped", FLIP("zipped/train-images-idx3-ubyte.gz")},
  {"image, missing", "pets", "rm pets/images/03.png"},
  {"image, empty", "pets", ": > pets/images/03.png"},
  {"image, text", "pets", "echo hello > pets/images/03.png"},
  {"image, cut off", "pets", CUT("pets/images/03.png")},
  {"image, other bytes", "pets", FLIP("pets/images/03.png")},
  {"image, out of the folder", "pets", "mv pets/images/03.png .; ln -s ../../03.png pets/images/03.png"},
  {"mask, cut off", "pets", CUT("pets/masks/03.png")},
  {"mask, of another size", "pets", "cp wide.png pets/masks/03.png"},
  {"masks, two of one image", "pets", "cp pets/masks/03.png pets/masks/03_mask.png"},
  {"table, empty", "pets", ": > pets/metadata.csv"},
  {"table, bytes", "pets", "cp pets/images/03.png pets/metadata.csv"},
  {"table, without labels", "pets", TABLE("file,class\\n03.png,cat\\n")},
  {"table, a short row", "pets", TABLE("file,label\\n03.png\\n")},
  {"table, an unknown split", "pets", TABLE("file,label,split\\n03.png,cat,dev\\n")},
  {"table, without rows", "pets", TABLE("file,label\\n")},
  {"table, leading out", "pets", TABLE("file,label\\n../wide.png,cat\\n")},
  {"folder, of nothing", "pets", "rm -r pets/*"},
};

static void each_command(const struct broken *b)
{
  static const char *const commands[] = {
    "$R4 data show %s --mask-means irrelevant",
    "$R4 data lint %s --mask-means irrelevant",
    "$R4 data make decoy --from %s --mask-means irrelevant --out made.npz",
    "$R4 train ../pets.yaml --set data=%s --out trained --quiet",
  };
  for (size_t k = 0; k < sizeof commands / sizeof *commands; k++) {
    char command[200], line[800];
    snprintf(command, sizeof command, commands[k], b->source);
    snprintf(line, sizeof line,
             "rm -rf t && mkdir t && cp -r d.npz idx zipped pets none.npz wide.png t && cd t && (%s); %s",
             b->how, command);
    int code = command_run(line);
    if (code != 3) fail_msg("%s: %s: code %d: %s", b->what, command, code, command_output);
    if (strncmp(command_output, "r4 ", 3) && command_output[0] != '\n')
      fail_msg("%s: %s", b->what, command_output);
  }
}

static void broken_data_end_with_3(void **state)
{
  (void)state;
  put_grey(scratch_folder(), "wide.png", 4, 5, 0, 255);
  for (size_t k = 0; k < sizeof broken / sizeof *broken; k++) each_command(broken + k);
}

/* ---- Runs ---- */

static void broken_runs_end_with_3(void **state)
{
  (void)state;
  static const struct {
    const char *what, *how;
  } runs[] = {
    {"model, empty", ": > t/run/seed-0/model.safetensors"},
    {"model, text", "echo hello > t/run/seed-0/model.safetensors"},
    {"model, cut off", CUT("t/run/seed-0/model.safetensors")},
    {"model, header",
     "printf '{{{' | dd of=t/run/seed-0/model.safetensors bs=1 seek=8 conv=notrunc 2>/dev/null"},
    {"model, missing", "rm t/run/seed-0/model.safetensors"},
    {"settings of the run, damaged", "echo '{' > t/run/config.yaml"},
    {"settings of the run, missing", "rm t/run/config.yaml"},
    {"manifest, damaged", "echo '{' > t/run/seed-0/manifest.json"},
    {"no run at all", "rm -r t/run"},
  };
  static const char *const commands[] = {"$R4 eval t/run", "$R4 explain t/run --out t/e.png"};
  for (size_t k = 0; k < sizeof runs / sizeof *runs; k++)
    for (size_t c = 0; c < sizeof commands / sizeof *commands; c++) {
      char line[500];
      snprintf(line, sizeof line, "rm -rf t && mkdir t && cp -r run t && (%s); %s", runs[k].how, commands[c]);
      int code = command_run(line);
      if (code != 3) fail_msg("%s: %s: code %d: %s", runs[k].what, commands[c], code, command_output);
    }
  for (size_t c = 0; c < sizeof commands / sizeof *commands; c++) { /* the data of a run, gone since */
    char line[500];
    snprintf(line, sizeof line,
             "rm -rf t && mkdir t && cp -r run t && mv pets away; %s; code=$?; mv away pets; exit $code",
             commands[c]);
    assert_int_equal(command_run(line), 3);
  }
}

/* ---- What the user wrote ---- */

static void mistakes_end_with_2(void **state)
{
  (void)state;
  static const char *const lines[] = {
    "$R4 train pets.yaml --set net='dnse 2' --out t/x --quiet",
    "$R4 train pets.yaml --set net='dense 3' --out t/x --quiet",
    "$R4 train pets.yaml --set lambda=x --out t/x --quiet",
    "$R4 train pets.yaml --set data.mask_means=unstated --out t/x --quiet",
    "printf 'data: [\\n' > bad.yaml; $R4 train bad.yaml --out t/x --quiet",
    "printf 'dta: pets\\n' > bad.yaml; $R4 train bad.yaml --out t/x --quiet",
    "$R4 train nothing.yaml --out t/x --quiet",
    "$R4 data show pets",
    "$R4 data show pets --mask-means both",
    "$R4 data make nothing --out t/x.npz",
    "$R4 eval run --split tset",
    "$R4 explain run --method nothing --out t/x.png",
  };
  for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
    int code = command_run(lines[k]);
    if (code != 2) fail_msg("%s: code %d: %s", lines[k], code, command_output);
  }
}

int main(void)
{
  cmocka_set_message_output(CM_OUTPUT_TAP);
  if (!check_command()) return 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test(broken_data_end_with_3),
                                     cmocka_unit_test(broken_runs_end_with_3),
                                     cmocka_unit_test(mistakes_end_with_2)};
  return cmocka_run_group_tests_name("cli_broken", tests, make, scratch_remove);
}
