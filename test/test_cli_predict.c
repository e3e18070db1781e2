/* "r4 predict" as a user meets it, on runs that "r4 train" makes first. Needs $R4, the command. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/csv.h"
#include "base/json.h"
#include "command.h"
#include "folder_make.h"
#include "pets.h"

enum { TEST = 9, CLASSES = 2 };

/* A run on images of their own size with two seeds, one of 6 x 6 pixels in batches of 4, one of one output. */
static int train(void **state)
{
  int failed = scratch_make(state);
  if (failed) return failed;
  pets_make((struct pets){.folder = "pets", .cat = "cat", .dog = "\"dog, \"\"big\"\"\"", .test = TEST});
  pets_settings("pets.yaml", "pets", "method: erm\n");
  put_text(scratch_folder(), "conv.yaml",
           "base: pets.yaml\ndata.size: 6\nnet: conv 3 3 p1, relu, flatten, dense 2\neval.batch: 4\n");
  put_text(scratch_folder(), "dense.yaml", "base: pets.yaml\ndata.size: 6\nnet: dense 2\n");
  put_text(scratch_folder(), "one.yaml", "base: pets.yaml\nnet: dense 1\n");
  EXPECT("$R4 train pets.yaml --out run --seeds 2 --quiet && $R4 train conv.yaml --out conv --quiet "
         "&& $R4 train dense.yaml --out dense --quiet && $R4 train one.yaml --out one --quiet",
         0);
  return 0;
}

/* ---- The same answers as evaluation ---- */

/* The test part of the data of a run, and the probabilities of its first seed, by the library. */
static r4_data *evaluated(const char *run, float *p)
{
  r4_error e = {0};
  char path[4096], here[4096];
  r4_setting_value batch;
  r4_settings *s = r4_settings_new();
  assert_non_null(getcwd(here, sizeof here));
  assert_int_equal(chdir(scratch_folder()), 0);
  snprintf(path, sizeof path, "%s/config.yaml", run);
  assert_int_equal(r4_settings_read(s, path, &e), R4_OK);
  assert_int_equal(r4_settings_get(s, "eval.batch", &batch, &e), R4_OK);
  snprintf(path, sizeof path, "%s/seed-0/model.safetensors", run);
  r4_model *m = r4_model_open(path, NULL, &e);
  r4_data *all = r4_settings_data(s, &e), *test = all ? r4_data_part(all, R4_TEST, &e) : NULL;
  if (!m || !test || r4_predict(r4_model_net(m), r4_model_weights(m), test, batch.whole, p, &e))
    fail_msg("%s", e.text);
  assert_int_equal(chdir(here), 0);
  r4_data_free(all);
  r4_model_free(m);
  r4_settings_free(s);
  return test;
}

static void answers_are_those_of_evaluation(void **state)
{
  (void)state;
  static const char *const runs[] = {"run", "conv", "dense", "one"};
  for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
    float want[TEST * CLASSES];
    char line[1024];
    r4_data *d = evaluated(runs[k], want);
    assert_int_equal(r4_data_count(d), TEST);
    int n = snprintf(line, sizeof line, "$R4 predict %s --seed 0 --json 2>/dev/null", runs[k]);
    for (size_t i = 0; i < TEST; i++)
      n += snprintf(line + n, sizeof line - (size_t)n, " pets/images/%s",
                    strrchr(r4_data_example(d, i).file, '/') + 1);
    EXPECT(line, 0, "\"classes\":[\"cat\",\"dog, \\\"big\\\"\"]", "\"seed\":0");
    struct js *root = command_json();
    const struct js *photos = js_get(root, "photos");
    assert_int_equal(js_size(photos), TEST);
    for (size_t i = 0; i < TEST; i++) {
      const struct js *p = js_get(js_at(photos, i), "probabilities");
      for (size_t c = 0; c < CLASSES; c++) {
        double v = -1;
        assert_true(js_number(js_at(p, c), &v));
        if ((float)v != want[i * CLASSES + c])
          fail_msg("%s: photo %zu: %.9g, not %.9g", runs[k], i, v, (double)want[i * CLASSES + c]);
      }
    }
    js_free(root);
    r4_data_free(d);
  }
}

/* ---- Forms ---- */

static void text_has_a_line_for_each_photo(void **state)
{
  (void)state;
  EXPECT("$R4 predict run pets/images/16.png pets/images/17.png", 0, "pets/images/16.png  cat ",
         "   dog, \"big\" 0.", "pets/images/17.png  dog, \"big\" 0.", "   cat 0.",
         "r4 predict: seed 0 of 2, the best by validation (", " %); --seed N selects another, --seed all the mean");
  EXPECT("$R4 predict run --seed 1 pets/images/ | wc -l", 0, "25\n");
  command_lacks("seed");
  EXPECT("$R4 predict run/seed-1 pets/images > a; $R4 predict run --seed 1 pets/images > b; "
         "$R4 predict run pets/images > c; cmp a b && ! cmp -s a c && echo same",
         0, "same");
  EXPECT("$R4 predict run/seed-1/model.safetensors conv/seed-0/explain.png", 2,
         "r4 predict: run/seed-1/model.safe");
  EXPECT("$R4 predict conv/seed-0/model.safetensors --json pets/images/00.png", 0, "\"seed\":null",
         "\"prediction\":\"cat\"");
}

/* The seed of the higher score of validation, whichever that is; the mean of all; and where nobody knows, the first. */
static void seeds_of_a_run(void **state)
{
  (void)state;
  EXPECT("cp -r run worse && for k in 0 1; do sed -i \"s/\\\"score\\\":[0-9.e-]*/\\\"score\\\":0.$((k+5))/\" "
         "worse/seed-$k/log.jsonl; done; $R4 predict worse pets/images", 0,
         "r4 predict: seed 1 of 2, the best by validation (60.0 %);");
  EXPECT("$R4 predict worse pets/images --json 2>/dev/null", 0, "\"seed\":1,");
  EXPECT("$R4 predict worse pets/images 2>/dev/null > best.txt; $R4 predict run pets/images --seed 1 > one.txt; cmp "
         "best.txt one.txt", 0);
  EXPECT("rm worse/seed-0/log.jsonl; $R4 predict worse pets/images", 0,
         "r4 predict: seed 0 of 2, the first, as validation does not tell them apart;");
  EXPECT("$R4 export worse --onnx worse.onnx", 0, "r4 export: seed 0 of 2, the first,");
  double p[3] = {0};
  static const char *const seeds[] = {"0", "1", "all"};
  for (int k = 0; k < 3; k++) {
    char line[200];
    snprintf(line, sizeof line, "$R4 predict run --seed %s --json pets/images/16.png", seeds[k]);
    EXPECT(line, 0, k == 2 ? "\"seed\":\"all\"" : "\"seed\":");
    struct js *root = command_json();
    const struct js *photo = js_at(js_get(root, "photos"), 0);
    assert_true(js_number(js_at(js_get(photo, "probabilities"), 0), &p[k]));
    js_free(root);
  }
  assert_true(p[0] != p[1] && fabs(p[2] - (p[0] + p[1]) / 2) < 1e-7);
  EXPECT("$R4 predict run --seed all --heat x.png pets/images/16.png", 2, "give --seed N");
  EXPECT("$R4 predict conv/seed-0/model.safetensors --seed all pets/images/16.png", 2, "--seed needs the folder of a "
         "run");
}

static void folders_in_natural_order(void **state)
{
  (void)state;
  static const char *const names[] = {"p10.png", "p9.PNG", "p1.png", "q.jpeg.txt", "in/p2.png", ".p3.png"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    char path[64];
    snprintf(path, sizeof path, "some/%s", names[k]);
    put_grey(scratch_folder(), path, 40, 30, 10, 200);
  }
  EXPECT("$R4 predict run --seed 0 some | cut -d' ' -f1 | tr '\\n' ' '", 0,
         "some/p1.png some/p9.PNG some/p10.png ");
  command_lacks("p2");
  command_lacks("p3");
  EXPECT("mkdir empty; $R4 predict run --seed 0 empty some/p1.png", 3,
         "empty: no PNG or JPEG file directly in this folder", "some/p1.png  dog");
  EXPECT("$R4 predict run --seed 0 empty", 3, "no PNG or JPEG");
  EXPECT("mkdir many; for k in $(seq 100); do ln -s ../some/p1.png many/$k.png; done; "
         "$R4 predict conv many/*.png --csv | wc -l",
         0, "101\n");
}

static void csv_can_be_read_back(void **state)
{
  (void)state;
  put_grey(scratch_folder(), "odd/a, \"b\".png", 8, 8, 200, 10);
  put_grey(scratch_folder(), "odd/c\n\xff.png", 8, 8, 10, 200);
  EXPECT("$R4 predict conv odd --csv", 0, "file,prediction,probability,cat,\"dog, \"\"big\"\"\"\n",
         "\"odd/a, \"\"b\"\".png\",cat,");
  command_harmless();
  struct csv c;
  r4_error e = {0};
  bool row;
  char bytes[sizeof command_output];
  memcpy(bytes, command_output, sizeof bytes);
  assert_int_equal(csv_open(&c, (uint8_t *)bytes, strlen(bytes), "output", &e), R4_OK);
  assert_int_equal(c.columns, 3 + CLASSES);
  assert_int_equal(csv_next(&c, &row, &e), R4_OK);
  assert_string_equal(c.field[0], "odd/a, \"b\".png");
  assert_string_equal(c.field[2], c.field[3]);
  assert_true(strtod(c.field[3], NULL) > 0.5);
  assert_int_equal(csv_next(&c, &row, &e), R4_OK);
  assert_string_equal(c.field[0], "odd/c\\x0a\\xff.png");
  assert_string_equal(c.field[1], "dog, \"big\"");
  csv_close(&c);
}

static void json_of_any_name(void **state)
{
  (void)state;
  put_grey(scratch_folder(), "names/\x1b[2J.png", 8, 8, 200, 10);
  put_grey(scratch_folder(), "names/\xff\"\\.png", 8, 8, 10, 200);
  put_text(scratch_folder(), "names/\x1b[3J.png", "nothing");
  EXPECT("$R4 predict conv names --json 2>/dev/null", 3, "\"error\":\"names/", "\"heat\":null");
  command_harmless();
  struct js *root = command_json();
  assert_int_equal(js_size(js_get(root, "photos")), 3);
  assert_string_equal(js_text(js_get(js_at(js_get(root, "photos"), 0), "file")), "names/\x1b[2J.png");
  js_free(root);
  EXPECT("$R4 predict conv names", 3, "names/\\x1b[2J.png  cat ",
         "names/\\x1b[3J.png: does not start like a PNG");
  command_harmless();
}

/* ---- Heat ---- */

static void heat_maps(void **state)
{
  (void)state;
  EXPECT("$R4 predict conv --heat heat.png pets/images/1*.png --json 2>/dev/null && head -c 4 heat.png | "
         "tail -c 3",
         0, "\"heat\":\"heat.png\"", "PNG");
  EXPECT("$R4 predict conv --heat heat.png pets/images/10.png", 2,
         "heat.png exists already; --force overwrites it");
  EXPECT("cp heat.png old.png; $R4 predict conv --heat heat.png --force pets/images/10.png && ! cmp -s "
         "heat.png old.png",
         0, "10.png  cat ");
  EXPECT("$R4 predict conv --heat heat.jpg pets/images/10.png", 2,
         "needs --heat and a file that ends in .png");
  EXPECT("$R4 predict conv --heat nowhere/heat.png pets/images/10.png --json", 3, "nowhere/heat.png",
         "\"heat\":null", "\"prediction\":\"cat\"");
  EXPECT("$R4 predict dense --heat dense.png pets/images/10.png && ls dense.png", 0, "dense.png");
  EXPECT("$R4 predict one --heat one.png pets/images/10.png && ls one.png", 0, "one.png");
  EXPECT("$R4 predict one --heat none.png nowhere.png; ls none.png", 2, "nowhere.png: opening",
         "cannot access");
  put_text(scratch_folder(), "width.sh", "od -An -tu1 -j16 -N8 $1 | awk '{print $3*256+$4, $7*256+$8}'\n");
  EXPECT("$R4 predict conv --heat two.png pets/images/1[01].png && sh width.sh two.png > small.txt && "
         "$R4 predict conv --heat sheet.png pets/images", 0, "r4 predict: sheet.png shows the first 24 of 25 photos;");
  EXPECT("$R4 predict conv --heat three.png pets/images/1[012].png && sh width.sh three.png", 0, "1356 ");
  EXPECT("sh width.sh sheet.png", 0, "1356 "); /* three side by side, eight rows */
  EXPECT("$R4 predict conv --heat few.png pets/images/1*.png", 0);
  command_lacks("shows the first");
}

/* ---- What goes wrong ---- */

static void unreadable_photos(void **state)
{
  (void)state;
  put_text(scratch_folder(), "bad/b.png", "no image");
  put_grey(scratch_folder(), "bad/a.png", 8, 8, 200, 10);
  put_grey(scratch_folder(), "bad/c.png", 8, 8, 10, 200);
  EXPECT("$R4 predict conv bad gone.png", 3, "bad/a.png  cat ", "bad/c.png  dog",
         "r4 predict: bad/b.png: does not start", "r4 predict: gone.png: opening: No such file",
         "2 of 4 photos could not be read");
  EXPECT("$R4 predict conv bad/a.png bad/c.png > a; $R4 predict conv bad gone.png 2>/dev/null > b; "
         "cmp a b && echo the rest stays",
         0, "the rest stays");
  EXPECT("$R4 predict conv bad --csv 2>/dev/null | wc -l", 0, "3\n");
  EXPECT("mkfifo pipe.png && timeout 20 $R4 predict conv pipe.png", 3,
         "pipe.png: is a pipe, expected a file");
}

static void photos_unlike_those_of_training(void **state)
{
  (void)state;
  put_grey(scratch_folder(), "long/a.png", 8, 30, 200, 10);
  put_grey(scratch_folder(), "long/b.png", 8, 16, 200, 10);
  put_grey(scratch_folder(), "long/c.png", 3, 3, 200, 10);
  put_grey(scratch_folder(), "long/d.png", 60, 10, 200, 10);
  EXPECT("$R4 predict conv long", 0, "1 photo smaller than the net's 6 x 6 pixels: long/c.png has 3 x 3\n",
         "2 photos far from the proportions of the net's 6 x 6 pixels: long/a.png has 30 x 8\n");
  EXPECT("$R4 predict conv long/b.png", 0, "long/b.png  cat");
  command_lacks("photo ");
}

static void wrong_arguments(void **state)
{
  (void)state;
  EXPECT("touch x.npz; $R4 predict run x.npz", 2, "x.npz: has arrays, and photos are expected; for arrays use Python",
         "r4 eval RUN --data x.npz --other-data --predictions FILE.csv");
  EXPECT("$R4 predict pets.yaml a.png", 2, "RUN is a file of settings; expected the folder of a run");
  EXPECT("mkdir -p split/cat split/dog; $R4 predict conv split", 3, "but it has folders: name them (cat, dog)\n");
  EXPECT("mkdir mixed; cp pets/images/00.png mixed; touch mixed/a.bmp mixed/b.webp mixed/Thumbs.db; "
         "$R4 predict conv mixed", 0, "mixed/00.png  cat", "mixed: 2 files are not PNG or JPEG and left out: a.bmp, "
                                                           "b.webp\n");
  EXPECT("$R4 predict", 2, "needs RUN");
  EXPECT("$R4 predict run", 2, "needs IMAGES");
  EXPECT("$R4 predict nowhere a.png", 3, "nowhere/config.yaml");
  EXPECT("$R4 predict run --seed 7 a.png", 3, "run has no model of seed 7");
  EXPECT("$R4 predict run --seed x a.png", 2, "--seed needs a whole number, all or best");
  EXPECT("$R4 predict conv/seed-0/model.safetensors --seed 0 a.png", 2, "--seed needs the folder of a run");
  EXPECT("$R4 predict run --csv --json a.png", 2, "give one");
  EXPECT("$R4 predict run --force a.png", 2, "--force is for the file of --heat");
  EXPECT("$R4 predict run --jsn a.png", 2, "did you mean --json?");
  EXPECT("$R4 predict run ''", 2, "unexpected argument");
  EXPECT("$R4 help predict", 0, "Usage: r4 predict RUN IMAGES... [OPTIONS]");
  EXPECT("$R4 help", 0, "predict    predict classes of new photos");
}

/* Nets of dense layers do not say what images they were trained on. */
static void nets_without_images(void **state)
{
  (void)state;
  EXPECT("cp -r run moved && mv pets away && $R4 predict moved --seed 0 away/images; code=$?; mv away pets; "
         "exit $code",
         3, "moved: the net takes 16 numbers", "which are not here");
  EXPECT("mv pets away && $R4 predict dense away/images/00.png; code=$?; mv away pets; exit $code", 0,
         "cat 0.");
  EXPECT("mv pets away && $R4 predict moved --seed 0 --data away away/images/00.png; code=$?; mv away pets; "
         "exit $code",
         0, "cat 0.");
  r4_error e = {0};
  r4_net *n = r4_net_open("dense 2", R4_SHAPE(5), &e);
  float w[12] = {0};
  assert_int_equal(r4_model_save(n, w, NULL, scratch_path("vector.safetensors"), &e), R4_OK);
  r4_net_free(n);
  EXPECT("$R4 predict vector.safetensors pets/images/00.png", 2, "the net takes 5 numbers");
  n = r4_net_open("flatten, dense 2", R4_SHAPE(1, 2, 2), &e);
  assert_int_equal(r4_model_save(n, w, NULL, scratch_path("two.safetensors"), &e), R4_OK);
  r4_net_free(n);
  EXPECT("$R4 predict two.safetensors pets/images/00.png", 2, "images of 2 channels");
  n = r4_net_open("flatten, dense 2", R4_SHAPE(1, 1, 1), &e);
  assert_int_equal(r4_model_save(n, w, NULL, scratch_path("unnamed.safetensors"), &e), R4_OK);
  r4_net_free(n);
  EXPECT("$R4 predict unnamed.safetensors pets/images/00.png", 0, "class 0 0.5000   class 1 0.5000");
}

int main(void)
{
  cmocka_set_message_output(CM_OUTPUT_TAP);
  if (!check_command()) return 0;
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(answers_are_those_of_evaluation),
    cmocka_unit_test(text_has_a_line_for_each_photo),
    cmocka_unit_test(seeds_of_a_run),
    cmocka_unit_test(folders_in_natural_order),
    cmocka_unit_test(csv_can_be_read_back),
    cmocka_unit_test(json_of_any_name),
    cmocka_unit_test(heat_maps),
    cmocka_unit_test(unreadable_photos),
    cmocka_unit_test(photos_unlike_those_of_training),
    cmocka_unit_test(wrong_arguments),
    cmocka_unit_test(nets_without_images),
  };
  return cmocka_run_group_tests_name("cli_predict", tests, train, scratch_remove);
}
