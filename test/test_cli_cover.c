/* "r4 certify --cover", "r4 predict --cover" and "r4 predict --masks" as a user meets them. Needs $R4, the command. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "command.h"
#include "folder_make.h"
#include "pets.h"

enum { TEST = 20, FIRST = 16 };

static int train(void **state)
{
  int failed = scratch_make(state);
  if (failed) return failed;
  pets_make((struct pets){.folder = "pets", .cat = "cat", .dog = "dog", .test = TEST, .masked = true});
  pets_settings("pets.yaml", "pets",
                "method: erm\ndata.size: 10\naugment.strips: 0.3\naugment.cutout: 0.2\n");
  put_text(scratch_folder(), "conv.yaml",
           "base: pets.yaml\nnet: conv 3 3 p1, relu, flatten, dense 2\nepochs: 2\n");
  EXPECT("$R4 train pets.yaml --out run --quiet && $R4 train conv.yaml --out conv --seeds 2 --quiet", 0);
  return 0;
}

/* ---- The certificate ---- */

/* A line of a certificate. */
struct line {
  int class;
  bool holds;
};

static void read_certificate(const char *file, struct line *to)
{
  char text[200];
  FILE *f = fopen(scratch_path(file), "r");
  assert_non_null(f);
  int n = 0, index, label;
  while (fgets(text, sizeof text, f)) {
    char verdict[20], margin[60];
    if (sscanf(text, "%d %d %d %59s %19s", &index, &label, &to[n].class, margin, verdict) != 5) continue;
    assert_int_equal(index, n);
    assert_int_equal(label, n % 2);
    to[n].holds = !strcmp(verdict, "holds");
    assert_int_equal(to[n].holds, strcmp(margin, "-") != 0);
    n++;
  }
  fclose(f);
  assert_int_equal(n, TEST);
}

static void certificate_by_the_contract(void **state)
{
  (void)state;
  EXPECT("$R4 certify run --cover edges:0.3", 0,
         "claim cover, cover edges:0.3; semantics this-program, method two-mask",
         "examples  net alone   correct  certified  or reported", "class cat",
         "Whatever is put into any one edge strip of at most 0.3 of the side:", "  dog: ",
         " certified");
  command_lacks("No example has a mask");
  EXPECT("cat run/seed-0/certificate-cover-edges-0.3.txt", 0, "r4-certificate 1\n",
         "\nclaim cover\nsemantics this-program\nmethod two-mask\n", "\ncover edges:0.3\nfill 0x1.",
         "\nexamples 20\n0 0 ");
  EXPECT("ls run/seed-0 run", 0, "certificate-test.npz");
  command_lacks(".part");
  EXPECT("$R4 certify run --cover edges:0.3 --detect && grep -c holds "
         "run/seed-0/certificate-cover-edges-0.3-detect.txt",
         0, "method one-mask");
  EXPECT("$R4 certify run --cover edges:0.3", 2, "exists; --force overwrites it");
}

/* What predict says about the same photos is what the certificate says. */
static void predictions_are_those_of_the_certificate(void **state)
{
  (void)state;
  static const char *const runs[] = {"run", "conv"};
  size_t holds = 0;
  for (size_t k = 0; k < 2; k++) {
    char line[2000];
    struct line want[TEST];
    snprintf(line, sizeof line, "$R4 certify %s/seed-0 --cover edges:0.4 --out c.txt --force", runs[k]);
    EXPECT(line, 0, "cover edges:0.4");
    read_certificate("c.txt", want);
    int n =
      snprintf(line, sizeof line, "$R4 predict %s --seed 0 --cover edges:0.4 --json 2>/dev/null", runs[k]);
    for (int i = 0; i < TEST; i++)
      n += snprintf(line + n, sizeof line - (size_t)n, " pets/images/%02d.png", FIRST + i);
    EXPECT(line, 0);
    struct js *root = command_json();
    const struct js *photos = js_get(root, "photos");
    assert_int_equal(js_size(photos), TEST);
    for (size_t i = 0; i < TEST; i++) {
      bool certified = false, agreed = false;
      const struct js *photo = js_at(photos, i);
      assert_string_equal(js_text(js_get(photo, "prediction")), want[i].class ? "dog" : "cat");
      assert_true(js_flag(js_get(photo, "certified"), &certified) &&
                  js_flag(js_get(photo, "agreed"), &agreed));
      assert_int_equal(certified, want[i].holds);
      assert_true(agreed || !certified);
      holds += certified;
    }
    js_free(root);
  }
  if (holds < 3 || holds > 2 * TEST - 3) fail_msg("%zu of %d are certified", holds, 2 * TEST);
}

/* Whoever is interrupted goes on, and ends with the same file. */
static void interrupted_and_resumed(void **state)
{
  (void)state;
  EXPECT("$R4 certify conv/seed-1 --cover edges:0.2 --out whole.txt", 0);
  EXPECT("$R4 certify conv/seed-1 --cover edges:0.2 --out nowhere/c.txt --data whole.npz", 3,
         "nowhere/c.txt");
  EXPECT("cd conv/seed-1 && wc -l < cover-edges-0.2-test.part && head -n 8 cover-edges-0.2-test.part > p && "
         "printf '1 1 1' >> p && mv p cover-edges-0.2-test.part",
         0, "21\n");
  EXPECT("$R4 certify conv/seed-1 --cover edges:0.2 --out again.txt --data whole.npz && cmp whole.txt "
         "again.txt && echo same",
         0, "7 of 20 examples were already done", "same");
  EXPECT("ls conv/seed-1", 0, "model.safetensors");
  command_lacks(".part");
  EXPECT(
    "echo other > conv/seed-1/cover-edges-0.2-test.part; "
    "$R4 certify conv/seed-1 --cover edges:0.2 --out third.txt --data whole.npz && cmp whole.txt third.txt",
    0);
  command_lacks("already done");
}

static void json_has_counts(void **state)
{
  (void)state;
  EXPECT("$R4 certify run --cover frame:0.1 --json --out f.txt --data f.npz 2>/dev/null", 0,
         "\"method\":\"two-mask\"", "\"about\":\"the outer frame of 0.1 of the side\"");
  struct js *root = command_json();
  const struct js *cat = js_at(js_get(root, "classes"), 0);
  int64_t examples = 0, certified = -1, correct = -1, reported = -1;
  assert_true(js_whole(js_get(cat, "examples"), &examples) && js_whole(js_get(cat, "certified"), &certified));
  assert_true(js_whole(js_get(cat, "correct"), &correct) &&
              js_whole(js_get(cat, "certified_or_reported"), &reported));
  assert_true(examples == TEST / 2 && certified <= reported && reported <= correct && correct <= examples);
  js_free(root);
}

/* Evaluation has the same figures. */
static void figures_of_evaluation(void **state)
{
  (void)state;
  double certified = -1;
  EXPECT("$R4 certify conv/seed-0 --cover edges:0.3 --json --out e.txt --data e.npz 2>/dev/null", 0);
  struct js *root = command_json();
  assert_true(js_number(js_get(js_get(root, "all"), "certified_accuracy"), &certified));
  js_free(root);
  char want[80];
  snprintf(want, sizeof want, "\"cover_certified_accuracy.edges:0.3\":%g,", certified);
  EXPECT("$R4 eval conv/seed-0 --cover edges:0.3 --json 2>/dev/null", 0, want,
         "\"cover_certified_worst_group.edges:0.3\"", "\"cover_accuracy.edges:0.3\"",
         "\"cover_reported_accuracy.edges:0.3\"");
  EXPECT("$R4 eval conv/seed-0 --cover edges:0.3", 0, "certified, worst group, edges:0.3");
  EXPECT("$R4 eval conv/seed-0 --cover tokens:3", 2, "is for texts");
}

/* ---- Predicting ---- */

static void other_forms(void **state)
{
  (void)state;
  EXPECT("$R4 predict run --cover edges:0.3 pets/images/16.png", 0, "pets/images/16.png  cat   certified\n");
  EXPECT(
    "$R4 predict run --cover edges:0.3 --csv pets/images/16.png pets/images/17.png", 0,
    "file,prediction,certified,agreed,net_alone\npets/images/16.png,cat,true,true,cat\npets/images/17.png,dog,");
  EXPECT("$R4 predict run/seed-0/model.safetensors --cover edges:0.3 pets/images/16.png", 2,
         "takes 100 numbers");
  EXPECT("$R4 predict conv/seed-0/model.safetensors --cover edges:0.3 pets/images/16.png", 0, "16.png  ");
}

/* What a mask marks does not matter, whatever it is, and what it does not mark does. */
static void known_masks(void **state)
{
  (void)state;
  for (int k = 0; k < 6; k++) {
    char name[60];
    snprintf(name, sizeof name, "a/p%d.png", k);
    put_grey(scratch_folder(), name, 23, 17, (uint8_t)(k * 40), k == 5 ? 9 : 200);
    snprintf(name, sizeof name, "m/p%d.png", k);
    put_grey(scratch_folder(), name, 23, 17, 255, 0);
  }
  EXPECT(
    "$R4 predict conv --seed 0 --masks m --csv a > out; cut -d, -f2- out | sed -n '2,6p' | sort -u | wc -l; "
    "cut -d, -f2- out | sed -n '2,7p' | sort -u | wc -l",
    0, "1\n2\n");
  EXPECT("$R4 predict conv --seed 0 --csv a | cut -d, -f2- | sort -u | wc -l", 0, "7\n");
  EXPECT("$R4 predict conv --seed 0 --masks m --cover edges:0.1 a", 0, "a/p0.png  ");
  put_grey(scratch_folder(), "m2/p0.png", 9, 9, 255, 0);
  EXPECT("$R4 predict conv --seed 0 --masks m2 a/p0.png a/p1.png", 3,
         "the mask has 9 x 9 pixels, its image 17 x 23", "m2/p1.png", "2 of 2 photos could not be read");
}

/* ---- What goes wrong ---- */

static void bad_input_is_named(void **state)
{
  (void)state;
  EXPECT("$R4 certify run --cover edges:0.5 --force", 2, "expected edges:F with F above 0 and below 0.5");
  EXPECT("$R4 certify run --cover square:10 --force", 2,
         "images are 10 x 10 pixels, expected a square of at most 9");
  EXPECT("$R4 certify run --cover tokens:3 --force", 2, "is for texts, and examples are images");
  EXPECT("$R4 certify run --cover edges:0.2 --eps 0.1", 2, "--eps is for the content of given masks");
  EXPECT("$R4 predict run --cover nothing pets/images/16.png", 2,
         "expected edges:F, square:P, frame:F or tokens:N");
  EXPECT("$R4 predict run --cover edges:0.2 --heat h.png pets/images/16.png", 2, "give --heat or --cover");
}

/* Models of others do not say by what content is replaced: the training examples of their run do. */
static void models_without_a_constant(void **state)
{
  (void)state;
  r4_error e = {0};
  EXPECT("cp -r conv old && $R4 certify conv/seed-0 --cover edges:0.1 --out new.txt", 0);
  r4_model *m = r4_model_open(scratch_path("old/seed-0/model.safetensors"), NULL, &e);
  const char *names[] = {"cat", "dog"};
  assert_int_equal(r4_model_save(r4_model_net(m), r4_model_weights(m), names,
                                 scratch_path("old/seed-0/model.safetensors"), &e),
                   R4_OK);
  r4_model_free(m);
  EXPECT("$R4 certify old/seed-0 --cover edges:0.1 --out old.txt --data new.npz && grep -v -e ^model -e "
         "^sha256 old.txt > one; "
         "grep -v -e ^model -e ^sha256 new.txt > two; cmp one two && echo same",
         0, "same");
  EXPECT("$R4 predict old/seed-0/model.safetensors --cover edges:0.1 pets/images/16.png", 2,
         "does not say what replaces hidden content");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(certificate_by_the_contract),
    cmocka_unit_test(predictions_are_those_of_the_certificate),
    cmocka_unit_test(interrupted_and_resumed),
    cmocka_unit_test(json_has_counts),
    cmocka_unit_test(figures_of_evaluation),
    cmocka_unit_test(other_forms),
    cmocka_unit_test(known_masks),
    cmocka_unit_test(bad_input_is_named),
    cmocka_unit_test(models_without_a_constant),
  };
  if (!check_command()) return 0;
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("cli_cover", tests, train, scratch_remove);
}
