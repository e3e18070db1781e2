/* Runs find their data from any directory, also where one or both have moved. Needs $R4, the command. */
#include "command.h"
#include "folder_make.h"
#include "pets.h"

static int make(void **state)
{
  if (scratch_make(state)) return -1;
  pets_make((struct pets){.folder = "home/pets", .cat = "cat", .dog = "dog", .test = 6, .masked = true});
  pets_make((struct pets){.folder = "home/others", .cat = "cat", .dog = "dog", .test = 8, .masked = true});
  pets_settings("home/small.yaml", "pets", "method: r3\nlambda: 0.1\n");
  EXPECT("mkdir -p far/away && cd home && $R4 train small.yaml --seeds 2 --out runs/small --quiet", 0,
         "runs/small");
  return 0;
}

/* What was written stays, beside where that was. */
static void manifests_say_where(void **state)
{
  (void)state;
  EXPECT("cat home/runs/small/seed-1/manifest.json", 0,
         "\"source\":{\"setting\":\"data\",\"written\":\"pets\",\"path\":\"/",
         "/home/pets\",\"from_run\":\"../../../pets\"}");
  EXPECT("cat home/runs/small/config.yaml", 0, "data: \"pets\"");
}

static void from_another_directory(void **state)
{
  (void)state;
  EXPECT("cd far && $R4 eval ../home/runs/small", 0, "2 seeds, 6 examples of test");
  EXPECT("cd far && $R4 eval ../home/runs/small/seed-1", 0, "1 seed, 6 examples of test");
  EXPECT("cd far && $R4 explain ../home/runs/small --out x.png && rm x.png", 0, "x.png");
  EXPECT("cd far && $R4 train ../home/runs/small --set lambda=0.2 --out other --quiet && $R4 eval other", 0,
         "1 seed");
}

/* Resumed elsewhere it ends with the same bits, by its folder or by the file it came from. */
static void resumed_from_another_directory(void **state)
{
  (void)state;
  EXPECT("cd home && $R4 train small.yaml --set epochs=30 --out runs/whole --quiet", 0, "runs/whole");
  EXPECT("cd home && $R4 train small.yaml --out runs/part --quiet && cp -r runs/part runs/again", 0,
         "runs/part");
  EXPECT("cd far && $R4 train ../home/runs/part --resume --set epochs=30 --quiet", 0, "part");
  EXPECT("cmp home/runs/whole/seed-0/model.safetensors home/runs/part/seed-0/model.safetensors", 0, "");
  EXPECT("cd far && $R4 train ../home/small.yaml --out ../home/runs/again --resume --set epochs=30 --quiet",
         0, "again");
  EXPECT("cmp home/runs/whole/seed-0/model.safetensors home/runs/again/seed-0/model.safetensors", 0, "");
}

static void moved_together(void **state)
{
  (void)state;
  EXPECT("cp -r home moved && mv home hidden && cd far && $R4 eval ../moved/runs/small", 0,
         "6 examples of test");
  EXPECT("cd far/away && $R4 explain ../../moved/runs/small --out x.png", 0, "x.png");
  EXPECT("mv hidden home && rm -r moved", 0, "");
}

static void moved_apart(void **state)
{
  (void)state;
  EXPECT("mv home/pets far/away/pets && $R4 eval home/runs/small", 3, "data \"pets\" is not found: neither at /",
         "/home/pets, where it was, nor at home/runs/small/seed-0/../../../pets, relative to the run, nor at pets, "
         "relative to the current folder; give their new place with --data");
  EXPECT("$R4 explain home/runs/small", 3, "is not found", "with --data");
  EXPECT("$R4 train home/runs/small --resume --set epochs=40", 3, "is not found", "put it back");
  EXPECT("$R4 eval home/runs/small --data far/away/pets", 0, "6 examples of test");
  EXPECT("$R4 explain home/runs/small --data far/away/pets --out there.png", 0,
         "there.png"); /* masks as the run says */
  EXPECT("$R4 eval home/runs/small --data home/others", 2, "trained on data with SHA-256");
  EXPECT("$R4 eval home/runs/small --data home/others --other-data", 0, "8 examples of test");
  EXPECT("$R4 eval home/runs/small --data nothing", 3, "nothing");
  EXPECT("cd far/away && $R4 eval ../../home/runs/small", 0,
         "6 examples of test"); /* as it is written, from here */
  EXPECT("mv far/away/pets home/pets && $R4 eval home/runs/small", 0, "6 examples");
}

/* A recipe builds on a path. */
static void recipes_find_their_source(void **state)
{
  (void)state;
  put_text(scratch_folder(), "home/decoy.yaml",
           "data: decoy-mnist\ndata.from: clean.npz\nnet: dense 10\nmethod: erm\nepochs: 1\nbatch: "
           "50\ndata.val: 0\n");
  EXPECT("cd home && $R4 data make decoy-mnist --clean --from digits:300 --val none --out clean.npz", 0,
         "clean");
  EXPECT(
    "cd home && $R4 train decoy.yaml --out runs/decoy --quiet && cd ../far && $R4 eval ../home/runs/decoy", 0,
    "50 examples");
  EXPECT("cat home/runs/decoy/seed-0/manifest.json", 0,
         "\"setting\":\"data.from\",\"written\":\"clean.npz\"");
  EXPECT("mv home/clean.npz far/moved.npz && $R4 eval home/runs/decoy", 3,
         "data.from \"clean.npz\" is not found");
  EXPECT("$R4 eval home/runs/decoy --data far/moved.npz", 0, "50 examples");
}

/* Names are not paths, and runs of before have nothing but what was written. */
static void names_and_older_runs(void **state)
{
  (void)state;
  put_text(scratch_folder(), "home/digits.yaml", "data: digits:300\nnet: dense 10\nepochs: 1\nbatch: 50\n");
  EXPECT(
    "cd home && $R4 train digits.yaml --out runs/digits --quiet && cd ../far && $R4 eval ../home/runs/digits",
    0, "50 examples");
  EXPECT("! grep -q source home/runs/digits/seed-0/manifest.json", 0, "");
  EXPECT("sed -i 's/,\"source\":{[^}]*}//' home/runs/small/seed-*/manifest.json && ! grep -q written "
         "home/runs/small/seed-*/manifest.json",
         0, "");
  EXPECT("cd home && $R4 eval runs/small && $R4 train runs/small --resume --quiet", 0, "6 examples of test",
         "runs/small");
  EXPECT("cd far && $R4 eval ../home/runs/small", 3, "pets", "; give their new place with --data");
  EXPECT("cd far && $R4 eval ../home/runs/small --data ../home/pets", 0, "6 examples of test");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(manifests_say_where),
    cmocka_unit_test(from_another_directory),
    cmocka_unit_test(resumed_from_another_directory),
    cmocka_unit_test(moved_together),
    cmocka_unit_test(moved_apart),
    cmocka_unit_test(recipes_find_their_source),
    cmocka_unit_test(names_and_older_runs),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  if (!check_command()) return 0;
  return cmocka_run_group_tests_name("cli place", tests, make, scratch_remove);
}
